//! Peers in threads of this process, over the real network of this machine, each with a folder, a key, a ledger and a page of its own.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

use sottovoce_node::drive::Ended;
use sottovoce_node::{Agreement, Error, Options, Place, Signatures};

use sottovoce_testing::ports;

/// Folders of peers, and what they have agreed on.
pub(crate) struct Sites {
    folder: tempfile::TempDir,
    pub(crate) agreement: Agreement,
    pub(crate) pages: Vec<SocketAddr>,
}

/// What is agreed on.
pub(crate) struct Terms<'a> {
    /// Of this name, with these numbers.
    pub(crate) peers: &'a [(&'a str, Vec<f64>)],
    pub(crate) edges: &'a str,
    pub(crate) grid: f64,
    pub(crate) tick: f64,
    /// Further fields, in lines of their own.
    pub(crate) more: &'a str,
    pub(crate) experiment: &'a str,
    pub(crate) budget: f64,
}

impl Sites {
    pub(crate) fn new(terms: &Terms<'_>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (ports, pages) = (ports(terms.peers.len()), ports(terms.peers.len()));
        let pages: Vec<SocketAddr> = pages.into_iter().map(|port| ([127, 0, 0, 1], port).into()).collect();
        let mut members = String::new();
        for (i, (name, values)) in terms.peers.iter().enumerate() {
            let home = folder.path().join(i.to_string());
            let (_, key) = Place::create(&home).unwrap();
            let values: Vec<String> = values.iter().map(ToString::to_string).collect();
            std::fs::write(home.join("values.txt"), values.join("\n")).unwrap();
            let budget = format!("epsilon = {:?}\ndelta = 1e-6\n", terms.budget);
            let config = format!(
                "label = 'values'\nvalues = 'values.txt'\npage = '{}'\n[budget.peer]\n{budget}[budget.coalition]\n{budget}[budget.wire-tapper]\n{budget}",
                pages[i]
            );
            std::fs::write(home.join("node.toml"), config).unwrap();
            members +=
                &format!("[[peers]]\nname = '{name}'\nkey = '{key}'\naddress = '127.0.0.1:{}'\n", ports[i]);
        }
        let text = format!(
            "version = 1\nname = 'mean'\nnonce = '1'\ngrid = {:?}\nwidth = {}\nedges = {}\ntick = {:?}\nanswer = 5.0\nround = 30.0\n{}{members}{}",
            terms.grid,
            terms.peers[0].1.len(),
            terms.edges,
            terms.tick,
            terms.more,
            terms.experiment
        );
        Self { folder, agreement: Agreement::parse(&text).unwrap(), pages }
    }

    pub(crate) fn home(&self, peer: usize) -> PathBuf {
        self.folder.path().join(peer.to_string())
    }

    pub(crate) fn status_file(&self, peer: usize) -> PathBuf {
        self.place(peer).status_file(self.agreement.hash().unwrap())
    }

    pub(crate) fn place(&self, peer: usize) -> Place {
        Place::open(&self.home(peer)).unwrap()
    }

    /// Another file for a peer to hold.
    pub(crate) fn hold(&self, peer: usize, name: &str, contents: impl AsRef<[u8]>) {
        std::fs::write(self.home(peer).join(name), contents).unwrap();
        self.configure(peer, "values.txt", name);
    }

    /// Changes a peer's file.
    pub(crate) fn configure(&self, peer: usize, old: &str, new: &str) {
        let config = self.home(peer).join("node.toml");
        let text = std::fs::read_to_string(&config).unwrap();
        assert!(text.contains(old), "{text}");
        std::fs::write(&config, text.replace(old, new)).unwrap();
    }

    /// Everybody's signature.
    pub(crate) fn signatures(&self) -> Signatures {
        let path = self.folder.path().join("signed");
        let mut all = Signatures::default();
        for peer in 0..self.agreement.peers.len() {
            let key = self.place(peer).read_key().unwrap();
            all.add(&path, &key.name(), &self.agreement.sign(&key).unwrap()).unwrap();
        }
        all
    }

    /// Runs a peer here and now.
    pub(crate) fn run(&self, peer: usize, meeting: Duration) -> Result<Ended, Error> {
        sottovoce_node::run(
            &self.place(peer),
            &self.agreement,
            &self.signatures(),
            &Options { meeting, ..Options::default() },
        )
    }

    /// Runs a peer in a thread of its own.
    pub(crate) fn start(&self, peer: usize) -> JoinHandle<Result<Ended, Error>> {
        let (place, agreement, signatures) = (self.place(peer), self.agreement.clone(), self.signatures());
        let options = Options { meeting: Duration::from_secs(60), ..Options::default() };
        std::thread::spawn(move || sottovoce_node::run(&place, &agreement, &signatures, &options))
    }

    /// What a peer's page answers, head and all; nothing once it has gone.
    pub(crate) fn get(&self, peer: usize, path: &str) -> Option<String> {
        let mut stream = TcpStream::connect(self.pages[peer]).ok()?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer).filter(|answer| !answer.is_empty())
    }
}
