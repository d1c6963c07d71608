//! What `deploy/` and `docs/deploy.md` say is what the program does: command lines are taken from the manifests and run, three sites in one run, and every command of the guide is one that there is.
//! (With the feature `node`: `cargo test -p sottovoce-cli --features node --test deploy`.)

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use sottovoce_testing::ports;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const UNIT: &str = "deploy/systemd/sottovoce@.service";
const CONTAINER: &str = "deploy/container/Containerfile";
const CLUSTER: &str = "deploy/kubernetes/sottovoce.yaml";
const SETUP: &str = "deploy/kubernetes/setup.yaml";
/// Where manifests have the program.
const PROGRAM: &str = "/usr/local/bin/sottovoce";

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(ROOT).join(path)).unwrap_or_else(|why| panic!("{path}: {why}"))
}

fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_sottovoce"))
}

/// What follows a word at the beginning of a line; there is one such line.
fn line<'a>(text: &'a str, word: &str) -> &'a str {
    let mut found = text.lines().filter_map(|line| line.trim().strip_prefix(word));
    let first = found.next().unwrap_or_else(|| panic!("no line begins with {word}"));
    assert!(found.next().is_none(), "{word} is there twice");
    first.trim()
}

/// A list as JSON has it, and Containerfiles and YAML, too.
fn list(text: &str) -> Vec<String> {
    serde_json::from_str(text).unwrap_or_else(|why| panic!("{text}: {why}"))
}

/// What the unit starts, for this run.
fn of_unit(run: &str) -> Vec<String> {
    let words: Vec<String> =
        line(&read(UNIT), "ExecStart=").split(' ').map(|word| word.replace("%i", run)).collect();
    assert_eq!(words[0], PROGRAM);
    words[1..].to_vec()
}

fn of_container() -> Vec<String> {
    let text = read(CONTAINER);
    assert_eq!(list(line(&text, "ENTRYPOINT ")), [PROGRAM]);
    list(line(&text, "CMD "))
}

/// What a pod of the image is given.
fn of_cluster(path: &str) -> Vec<String> {
    list(line(&read(path), "args: "))
}

/// The same with the folders of a site here; no other place on the machine is named.
fn here(arguments: &[String], site: &Path) -> Vec<String> {
    let moved = |word: &String| {
        let place = ["/var/lib/sottovoce/", "/etc/sottovoce/"]
            .into_iter()
            .find_map(|folder| word.strip_prefix(folder));
        assert!(place.is_some() || !word.contains('/'), "{word} is a place of which nobody was told");
        place.map_or_else(|| word.clone(), |file| site.join(file).display().to_string())
    };
    arguments.iter().map(moved).collect()
}

fn done(arguments: &[String]) -> String {
    let output = Command::new(program()).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn start(arguments: &[String]) -> Child {
    let mut command = Command::new(program());
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Three organisations on three kinds of sites, as the guide has it, from their keys to their results.
#[test]
fn three_sites_run_what_their_manifests_say() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["unit", "container", "cluster"];
    let mut new = words("node agree new --name mean");
    for (i, (name, port)) in names.iter().zip(ports(names.len())).enumerate() {
        let site = folder.path().join(name);
        fs::create_dir(&site).unwrap();
        let init = here(&of_cluster(SETUP), &site);
        let made = done(&[init, words("--json")].concat());
        let made: serde_json::Value = serde_json::from_str(&made).unwrap();
        fs::write(site.join("node/values.txt"), format!("0.{i}5\n")).unwrap();
        new.extend([
            "--peer".to_owned(),
            format!("{name}={}@127.0.0.1:{port}", made["key"].as_str().unwrap()),
        ]);
    }
    let agreement = folder.path().join("agreement.toml");
    fs::write(&agreement, done(&new)).unwrap();
    for name in names {
        let node = folder.path().join(name).join("node").display().to_string();
        done(&[words("node agree sign --yes"), vec![node, agreement.display().to_string()]].concat());
    }
    let commands = [of_unit("agreement"), of_container(), of_cluster(CLUSTER)];
    let running: Vec<Child> = names
        .iter()
        .zip(&commands)
        .map(|(name, command)| {
            let site = folder.path().join(name);
            for file in ["agreement.toml", "agreement.toml.signed"] {
                fs::copy(folder.path().join(file), site.join(file)).unwrap();
            }
            start(&here(command, &site))
        })
        .collect();
    for (name, child) in names.iter().zip(running) {
        let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
        let (out, log) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
        assert!(status.success(), "{name}: {log}");
        assert!(out.contains("result: "), "{name}: {out}");
        assert!(log.contains("everybody is there"), "{name} has a log: {log}");
    }
    let status =
        done(&[words("node status"), vec![folder.path().join("unit/node").display().to_string()]].concat());
    assert!(status.contains("1 runs"), "{status}");
}

/// Commands of the program in a text: in lines and between marks, up to where the shell takes over.
fn commands(text: &str) -> Vec<String> {
    let pieces = text.lines().flat_map(|line| line.split('`'));
    let named = pieces.filter_map(|piece| piece.split_once("sottovoce node ").map(|(_, words)| words));
    named.map(|words| format!("node {}", words.split([';', '>', '#']).next().unwrap().trim())).collect()
}

#[test]
fn every_command_of_the_guides_is_there() {
    let texts =
        ["docs/deploy.md", "docs/threat-model.md", "docs/node.md", CONTAINER, UNIT].map(read).join("\n");
    let all = commands(&texts);
    assert!(all.len() >= 12, "{all:?}");
    for command in all {
        // An unknown command or option is refused before `--help`, which is last, is looked at.
        let output = Command::new(program()).args(words(&command)).arg("--help").output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let unknown =
        Command::new(program()).args(words("node run ana mean.toml --wayt 3 --help")).output().unwrap();
    assert_eq!(unknown.status.code(), Some(2), "the test itself");
}

#[test]
fn the_unit_has_no_rights_and_waits_for_what_waiting_mends() {
    let unit = read(UNIT);
    for setting in [
        "NoNewPrivileges=yes",
        "ProtectSystem=strict",
        "ProtectHome=yes",
        "PrivateDevices=yes",
        "CapabilityBoundingSet=",
        "MemoryDenyWriteExecute=yes",
        "RestrictNamespaces=yes",
        "StateDirectory=sottovoce",
        "StateDirectoryMode=0700",
        "UMask=0077",
        "User=sottovoce",
        "LimitCORE=0",
        "Restart=on-failure",
        "RestartPreventExitStatus=2 3 5 6 7 8",
    ] {
        assert!(unit.lines().any(|line| line == setting), "{setting}");
    }
    assert!(line(&unit, "MemoryMax=").ends_with('G'));
    // The codes that waiting does not mend are those that the program has.
    let help = done(&words("node --help")).split_whitespace().collect::<Vec<_>>().join(" ");
    let codes = ["2: bad input", "3: the budget", "4: run it again", "5: peers do not agree"];
    for code in codes.into_iter().chain(["6: over for good", "7: over without", "8: the ledger is damaged"]) {
        assert!(help.contains(code), "{code}: {help}");
    }
    assert!(read("deploy/systemd/sottovoce.sysusers").lines().any(|line| line.starts_with("u sottovoce ")));
}

/// As systemd reads it, where there is systemd.
#[test]
fn systemd_takes_the_unit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sottovoce@.service");
    fs::write(&path, read(UNIT).replace(PROGRAM, &program().display().to_string())).unwrap();
    match Command::new("systemd-analyze").arg("verify").arg(&path).output() {
        Err(why) => {
            sottovoce_testing::skipped("systemd", &format!("no systemd-analyze on this machine ({why})"));
        }
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && !said.contains("sottovoce@"), "{said}");
        }
    }
}

#[test]
fn containers_have_no_root_no_shell_and_one_replica() {
    let container = read(CONTAINER);
    let (build, last) = container.rsplit_once("\nFROM ").unwrap();
    assert!(last.contains("USER 65532:65532") && last.starts_with("gcr.io/distroless/"), "{last}");
    assert!(!last.contains("RUN "), "there is no shell to run anything");
    assert!(build.contains("--locked") && build.contains("--features node"));
    // The compiler is the one that the workspace asks for.
    let workspace = read("Cargo.toml");
    let asked = line(&workspace, "rust-version = ").trim_matches('"').to_owned();
    assert!(build.contains(&format!("/rust:{asked}-slim")), "the workspace asks for {asked}");
    let version = line(&workspace, "version = ").trim_matches('"').to_owned();
    for path in [CLUSTER, SETUP] {
        let text = read(path);
        for setting in [
            "runAsNonRoot: true",
            "runAsUser: 65532",
            "allowPrivilegeEscalation: false",
            "readOnlyRootFilesystem: true",
            "automountServiceAccountToken: false",
            "fsGroupChangePolicy: OnRootMismatch",
        ] {
            assert!(text.contains(setting), "{path}: {setting}");
        }
        assert_eq!(line(&text, "image: sottovoce:"), version, "{path}");
    }
    let cluster = read(CLUSTER);
    // One pod can mount the volume, and the run takes the one that was made for it.
    assert_eq!(list(line(&read(SETUP), "accessModes: ")), ["ReadWriteOncePod"]);
    assert!(
        read(SETUP).contains("name: state-sottovoce-0") && cluster.contains("{claimName: state-sottovoce-0}")
    );
    assert_eq!(line(&cluster, "parallelism: "), "1", "two pods are two copies of one key");
    assert_eq!(line(&cluster, "podReplacementPolicy: "), "Failed");
    assert!(cluster.contains("values: [2, 3, 5, 6, 7, 8]") && cluster.contains("restartPolicy: Never"));
    for kind in ["Job", "Service", "NetworkPolicy"] {
        assert!(cluster.lines().any(|line| line == format!("kind: {kind}")), "{kind}");
    }
    assert_eq!(line(&cluster, "clusterIP: "), "None");
    assert!(!cluster.lines().any(|line| line.trim().starts_with("- {name: page")), "the page is on loopback");
    // One port everywhere.
    assert!(line(&container, "EXPOSE ") == "4001/udp" && cluster.matches("4001").count() == 4);
}
