//! Bytes that anybody may have written, for every decoder: what fuzzers, tests of mutations and long runs by hand call. Nothing here may panic, or allocate more than was agreed on.

use sottovoce_protocol::averaging::Message;
use sottovoce_protocol::ring::Residues;

use crate::network::wire;
use crate::{Agreement, Hash, Head, Key, Parcel, Record, Signed};

/// The longest message of the run that frames are read for.
const LONGEST: usize = 1 << 12;

/// A decoder.
pub type Decoder = fn(&[u8]);

/// All of them, by name.
pub const DECODERS: [(&str, Decoder); 6] = [
    ("frame", frame),
    ("parcel", parcel),
    ("message", message),
    ("record", record),
    ("agreement", agreement),
    ("signatures", signatures),
];

/// What comes over a stream: read, and if it is a frame, written again as the same bytes.
pub fn frame(bytes: &[u8]) {
    if let Ok(frame) = wire::decode(bytes, LONGEST) {
        let again = wire::decode(&wire::encode(frame.clone()), LONGEST);
        assert_eq!(again, Ok(frame), "a frame is not what it says");
    }
}

/// A message that is sealed.
pub fn parcel(bytes: &[u8]) {
    let run = Hash::of(b"run");
    if let Ok(parcel) = Parcel::open(bytes, run, LONGEST) {
        assert_eq!(Parcel::open(&parcel.seal(), run, LONGEST), Ok(parcel), "a parcel is not what it says");
    }
}

/// What is in a parcel.
pub fn message(bytes: &[u8]) {
    let _ = postcard::from_bytes::<Message<Vec<f64>>>(bytes);
    let _ = postcard::from_bytes::<Message<Residues>>(bytes);
}

/// What a ledger keeps, and shows.
pub fn record(bytes: &[u8]) {
    if let Ok(signed) = postcard::from_bytes::<Signed>(bytes) {
        let _ = signed.open(&Key::simulated(1).name());
    }
    let _ = postcard::from_bytes::<Record>(bytes);
    let _ = postcard::from_bytes::<Head>(bytes);
}

/// What peers agree on.
pub fn agreement(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(read) = Agreement::parse(text)
        && let (Ok(hash), Ok(text)) = (read.hash(), read.canonical())
    {
        let again = Agreement::parse(&text).and_then(|again| again.hash());
        assert!(again.is_ok_and(|again| again == hash), "an agreement is not what it says");
    }
}

/// Signatures beside it.
pub fn signatures(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes)
        && let Ok(read) = toml::from_str::<crate::Signatures>(text)
    {
        let _ = read.all();
    }
}

/// Something of which mutants are made, for each decoder, in the same order.
pub fn seeds() -> [Vec<Vec<u8>>; 6] {
    use crate::{Frame, Hello, Mark, Notice, Says, VERSION};
    let key = Key::simulated(1);
    let (run, mark) = (Hash::of(b"run"), Mark::of(&key, Hash::of(b"mark")));
    let body = |bytes: Result<Vec<u8>, postcard::Error>| bytes.unwrap_or_default();
    let plain = body(postcard::to_stdvec(&Message { round: 3, value: vec![0.5, -1.0, 2.0] }));
    let ring =
        body(postcard::to_stdvec(&Message { round: 1, value: Residues::new(vec![5, -7, 1 << 20], 40) }));
    let parcel = Parcel { run, number: 7, mark, body: plain.clone() };
    let hello = Hello { version: VERSION, run, witness: vec![mark; 2], reply: false };
    let frames = [
        Frame::Hello(hello),
        Frame::Parcel(parcel.seal()),
        Frame::Answer { number: 3 },
        Frame::Terms("name = 'x'".to_owned()),
        Frame::Done,
    ];
    let here = Says::Here { number: [3; 32], all: run };
    let notices = [here, Says::Silent { round: 2, missing: vec![1, 2] }]
        .map(|says| Notice::new(&key, run, (1, 2), says));
    let notices = notices.into_iter().flatten().map(Frame::Notice);
    let head = body(postcard::to_stdvec(&Head { count: 9, hash: run }));
    let names = [1, 2, 3].map(|seed| Key::simulated(seed).name());
    let peer =
        |i: usize| format!("[[peers]]\nname = 'p{i}'\nkey = '{}'\naddress = '127.0.0.1:400{i}'\n", names[i]);
    let text = format!(
        "version = 1\nname = 'mean'\nnonce = '7'\ngrid = 0.0009765625\nedges = 'complete'\ncoalitions = [['p0', 'p1']]\n{}[experiment]\nexperiment = 'averaging'\n\
         noise = {{ sigma = 2.0 }}\n",
        (0..3).map(peer).collect::<String>()
    );
    let pairs = "[['p0','p1'],['p1','p2']]";
    let signed = format!("[signed]\n{} = '{}'\n", names[0], "0a".repeat(64));
    [
        frames.into_iter().chain(notices).map(wire::encode).collect(),
        vec![parcel.seal(), Parcel { body: ring.clone(), ..parcel }.seal()],
        vec![plain, ring],
        vec![head, vec![0; 200]],
        vec![text.clone().into_bytes(), text.replace("'complete'", pairs).into_bytes()],
        vec![signed.into_bytes()],
    ]
}
