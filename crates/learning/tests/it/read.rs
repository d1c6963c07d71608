//! Readers on tiny files, well formed and not.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use sottovoce_learning::read::{self, Column, Header, Missing, Options, Separator};
use sottovoce_learning::{Result, Table};

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Tables alone, of what readers find.
fn csv(text: &[u8], options: &Options) -> Result<Table> {
    read::csv(text, options).map(|found| found.table)
}

fn idx(images: &[u8], labels: &[u8]) -> Result<Table> {
    read::idx(images, labels).map(|found| found.table)
}

fn open(path: &Path, options: &Options) -> Result<Table> {
    read::open(path, options).map(|found| found.table)
}

fn refused(result: Result<Table>) -> String {
    result.unwrap_err().to_string()
}

fn named(label: &str) -> Options {
    Options { label: Column::Name(label.into()), ..Options::default() }
}

/// What a table holds, whatever its columns are called.
fn parts(table: &Table) -> (Vec<f64>, usize, Vec<f64>) {
    (table.view().features.to_vec(), table.width(), table.labels().to_vec())
}

#[test]
fn csv_with_and_without_header() {
    let plain = csv(&b"1,2,3\n4,5,6\n"[..], &Options::default()).unwrap();
    assert_eq!(parts(&plain), parts(&Table::new(vec![1.0, 2.0, 4.0, 5.0], 2, vec![3.0, 6.0]).unwrap()));
    let with = "\u{feff}a;\"y;z\";b\r\n 1 ;2;3\r\n\r\n4;5;6";
    let table = csv(with.as_bytes(), &named("y;z")).unwrap();
    assert_eq!(parts(&table), parts(&Table::new(vec![1.0, 3.0, 4.0, 6.0], 2, vec![2.0, 5.0]).unwrap()));
    assert_eq!((table.column(0), table.column(1)), ("a".into(), "b".into()));
    let quoted = csv(&b"a,\"say \"\"y\"\"\"\n \"1\" ,\"2\"\n"[..], &named("say \"y\"")).unwrap();
    assert_eq!(parts(&quoted), parts(&Table::new(vec![1.0], 1, vec![2.0]).unwrap()));
    // A header is seen by features that are no numbers; the label alone does not make one.
    assert_eq!(csv(&b"a\tb\n1\t2\n"[..], &Options::default()).unwrap().rows(), 1);
    assert_eq!(csv(&b"1,no\n2,yes\n"[..], &Options::default()).unwrap().rows(), 2);
    let first = Options { label: Column::Index(0), header: Header::Yes, ..Options::default() };
    let table = csv(&b"1,2\n3,4\n"[..], &first).unwrap();
    assert_eq!((parts(&table), table.column(0)), ((vec![4.0], 1, vec![3.0]), "2".into()));
    assert_eq!(csv(&gz(b"1,2\n3,4\n")[..], &Options::default()).unwrap().rows(), 2);
    let tabs = Options { separator: Separator::Tab, ..Options::default() };
    assert!(refused(csv(&b"1,2\n3,4\n"[..], &tabs)).contains("a label and at least one feature"));
}

#[test]
fn csv_names_become_sorted_classes() {
    let table = csv(&b"x,y\n1,pear\n2,apple\n3,pear\n"[..], &Options::default()).unwrap();
    assert_eq!(table.labels(), [1.0, 0.0, 1.0]);
    assert_eq!(table.classes(), ["apple", "pear"]);
    let two = table.binary("pear").unwrap();
    assert_eq!((two.labels(), two.classes().len()), (&[1.0, -1.0, 1.0][..], 0));
    let table = csv(&b"1,pear\n2,apple\n"[..], &Options::default()).unwrap();
    // That nobody has a plum is not for everyone to know, nor what they have: no label depends on another row's.
    assert!(table.declared_classes().is_none());
    assert_eq!(table.clone().binary("plum").unwrap().labels(), [-1.0, -1.0]);
    let list = ["plum", "pear", "apple"].map(String::from);
    assert_eq!(table.clone().classified(&list).unwrap().labels(), [1.0, 2.0]);
    assert!(refused(table.clone().classified(&list[..2])).starts_with("`label` is apple in row 1: "));
    assert!(refused(table.above(0.5)).contains("labels are names"));
}

#[test]
fn malformed_csv_is_refused_with_its_line() {
    let read = |text: &str| refused(csv(text.as_bytes(), &Options::default()));
    assert_eq!(read(""), "the file is empty; give a row in each line");
    assert_eq!(read("\n\n"), "the file is empty; give a row in each line");
    assert!(read("1\n2\n").contains("a label and at least one feature"));
    assert!(
        read("1,2,3\n\n4,5\n")
            .starts_with("line 3: 2 fields (separated by commas), where the first line has 3; ")
    );
    assert!(read("a,b,y\n1,?,3\n").starts_with("line 2: `b` is missing (`?`): remove the row, or say"));
    assert!(read("1,2,3\n1,nan,3\n").starts_with("line 2: column 1 is missing (`nan`): "));
    assert!(read("1,2,3\n1,1e999,3\n").starts_with("line 2: column 1 is `1e999`: "));
    assert!(
        read("1,5;2,5;3\n1,5;2,5;3\n")
            .starts_with("line 2: `1,5` is `1,5`: give a finite number with a decimal")
    );
    assert!(read("1,2\n1,\n").starts_with("line 2: `label` is ``: "));
    assert!(read("1,2\n1,x\n").starts_with("line 2: `label` is `x`, but line 1 has a number; "));
    assert!(read("1,x\n1,2\n").starts_with("line 2: `label` is `2`, but line 1 has a name; "));
    assert!(
        refused(csv(&b"1,2\n3,\xff\n"[..], &Options::default())).starts_with("line 2: the line is not UTF-8")
    );
    assert_eq!(refused(csv(&b"a,b\n1,2\n"[..], &named("c"))), "`label` is `c`: the columns are a, b");
    assert!(refused(csv(&b"a,a\n1,2\n"[..], &named("a"))).contains("several columns"));
    let beyond = Options { label: Column::Index(2), ..Options::default() };
    assert_eq!(refused(csv(&b"1,2\n"[..], &beyond)), "`label` is column 2: there are 2, counted from 0");
    let no_names = Options { header: Header::No, ..named("a") };
    assert!(refused(csv(&b"a,b\n1,2\n"[..], &no_names)).contains("without a header"));
    assert!(read("1,2\r\n3,4\r\n5,\"6\r\n").starts_with("line 3: a closing \" is missing"));
    assert!(read("1\t2\n3\t\n").starts_with("line 2: `label` is ``: "));
    assert_eq!(read("a,b\n"), "no rows follow the header; give at least one");
    let packed = gz(b"1,2\n3,4\n");
    assert!(
        refused(csv(&packed[..packed.len() - 6], &Options::default()))
            .starts_with("cannot be read to its end")
    );
}

/// Two images of 1 x 2 pixels.
const IMAGES: [u8; 20] = [0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0, 255, 51, 102];
const LABELS: [u8; 10] = [0, 0, 8, 1, 0, 0, 0, 2, 7, 3];

#[test]
fn idx_images_and_labels() {
    let expected = Table::new(vec![0.0, 1.0, 0.2, 0.4], 2, vec![7.0, 3.0]).unwrap();
    assert_eq!(idx(&IMAGES[..], &LABELS[..]).unwrap(), expected);
    assert_eq!(idx(&gz(&IMAGES)[..], &gz(&LABELS)[..]).unwrap(), expected);
}

#[test]
fn malformed_idx_is_refused() {
    let images = |at: usize, byte: u8| {
        let mut bytes = IMAGES;
        bytes[at] = byte;
        refused(idx(&bytes[..], &LABELS[..]))
    };
    assert!(images(2, 9).starts_with("`images` start with the bytes [0, 0, 9, 3]; "));
    assert!(images(3, 0).starts_with("`images` start with "));
    assert!(images(7, 3).starts_with("3 images but 2 labels; "));
    assert!(images(11, 2).starts_with("`images` end after 4 of the 8 bytes"));
    assert!(images(15, 1).starts_with("`images` go on after the 2 bytes"));
    // Four gigabytes of pixels a row, of which there are none: refused before anything is allocated.
    assert!(images(12, 255).contains("are more than 268435456 numbers"));
    assert!(images(13, 1).starts_with("`images` end after 4 of the 131076 bytes"));
    assert!(images(15, 0).starts_with("`images` go on after the 0 bytes"));
    assert!(refused(idx(&IMAGES[..7], &LABELS[..])).starts_with("`images` end within the header"));
    assert!(refused(idx(&b""[..], &LABELS[..])).starts_with("`images` end within the header"));
    assert!(refused(idx(&IMAGES[..], &LABELS[..9])).starts_with("`labels` end after 1 of the 2 bytes"));
    assert!(refused(idx(&IMAGES[..], &IMAGES[..])).starts_with("`labels` have 3 sizes; "));
}

#[test]
fn files_are_opened_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let read = |path: &Path| open(path, &Options::default());
    assert_eq!(read(&write("a.csv", b"1,2\n")).unwrap().rows(), 1);
    assert_eq!(read(&write("a.TSV.gz", &gz(b"1\t2\n"))).unwrap().rows(), 1);
    write("t-labels-idx1-ubyte.gz", &gz(&LABELS));
    assert_eq!(read(&write("t-images-idx3-ubyte.gz", &gz(&IMAGES))).unwrap().rows(), 2);
    assert_eq!(read(&write("t-images-idx3-ubyte", &IMAGES)).unwrap().rows(), 2);
    let lonely = refused(read(&write("u-images-idx3-ubyte", &IMAGES)));
    assert!(lonely.contains("u-labels-idx1-ubyte`: cannot be opened"), "{lonely}");
    assert!(refused(read(&write("idx3-ubyte", &IMAGES))).contains("no labels are known"));
    assert!(refused(read(&write("a.xls", b"1"))).contains("a.xls`: the name does not say the format; "));
    for (name, what) in [("a.arff", "ARFF"), ("a.SVM.gz", "SVMlight"), ("a.libsvm", "SVMlight")] {
        let problem =
            format!("{name}`: {what} is not read; convert it to CSV, as docs/how-to/own-table.md says");
        assert!(refused(read(&write(name, b"1"))).ends_with(&problem), "{name}");
    }
    assert!(refused(read(&folder.path().join("none.csv"))).contains("none.csv`: cannot be opened"));
    let bad = refused(read(&write("bad.csv", b"1,2\nx,2\n")));
    assert!(
        bad.contains("bad.csv`: line 2: column 0 is `x`: give a finite number with a decimal point; or"),
        "{bad}"
    );
}

#[test]
fn headers_are_told_without_anybodys_row() {
    let header = |header| Options { header, ..Options::default() };
    // Numbered columns, as pandas calls them: a header or a row.
    let numbered = "0,1,2\n5,6,7\n";
    assert!(
        refused(csv(numbered.as_bytes(), &header(Header::Auto)))
            .starts_with("line 1: the fields are 0 to 2: ")
    );
    assert_eq!(csv(numbered.as_bytes(), &header(Header::Yes)).unwrap().rows(), 1);
    assert_eq!(csv(numbered.as_bytes(), &header(Header::No)).unwrap().rows(), 2);
    // A category in the first row is no header.
    let mixed = refused(csv(b"red,1,yes\nblue,2,no\n", &Options::default()));
    assert!(
        mixed.starts_with("line 1: `red` is no number, but `1` is one; say whether the first line"),
        "{mixed}"
    );
    let one = refused(csv(b"1 2 3\n", &Options::default()));
    assert!(
        one.contains("one field, if fields are separated by commas") && one.contains("semicolons or tabs"),
        "{one}"
    );
}

#[test]
fn index_columns_are_noticed() {
    let found = read::csv(&b",a,y\n0,5,1\n1,6,0\n"[..], &Options::default()).unwrap();
    assert_eq!((found.table.width(), found.table.column(0)), (1, "a".into()));
    assert!(found.notes[0].contains("taken for an index and left out"), "{:?}", found.notes);
    let counted = read::csv(&b"id,a,y\n1,5,1\n2,6,0\n3,6,0\n"[..], &Options::default()).unwrap();
    assert_eq!(counted.table.width(), 2);
    assert_eq!(counted.notes, ["`id` counts the rows: if it is an index, leave it out (--drop id)"]);
    let dropped = Options { left: vec![Column::Name("id".into())], ..Options::default() };
    let found = read::csv(&b"id,a,y\n1,5,1\n2,6,0\n3,6,0\n"[..], &dropped).unwrap();
    assert_eq!((found.table.width(), found.notes.len()), (1, 0));
}

#[test]
fn categories_follow_a_public_list() {
    let categories = [("colour".to_owned(), ["red", "blue"].map(String::from).to_vec())].into();
    let options = Options { categories, missing: Missing::Value(9.0), ..Options::default() };
    let table = csv(b"x,colour,y\n1,blue,0\nNA,red,1\n3,,1\n", &options).unwrap();
    assert_eq!(table.view().features, [1.0, 0.0, 1.0, 9.0, 1.0, 0.0, 3.0, 0.0, 0.0]);
    assert_eq!([0, 1, 2].map(|column| table.column(column)), ["x", "colour=red", "colour=blue"]);
    assert!(!table.is_indicator(0) && table.is_indicator(1) && table.is_indicator(2));
    let stranger = refused(csv(b"x,colour,y\n1,green,0\n", &options));
    assert!(stranger.starts_with("line 2: `colour` is `green`: give one of red, blue"), "{stranger}");
    let unlisted = refused(csv(b"x,colour,y\n1,green,0\n", &Options::default()));
    assert!(
        unlisted.contains("--category colour=A,B,...") && unlisted.contains("--drop colour"),
        "{unlisted}"
    );
    let twice = Options { label: Column::Name("colour".into()), ..options };
    assert!(refused(csv(b"x,colour,y\n1,red,0\n", &twice)).contains("another use already"));
}

#[test]
fn a_column_may_name_who_holds_a_row() {
    let options = Options { peer: Some(Column::Name("hospital".into())), ..Options::default() };
    let found = read::csv(&b"x;hospital;y\n1;north;0\n2;south;1\n3;north;1\n"[..], &options).unwrap();
    let holders = found.holders.unwrap();
    assert_eq!((holders.names, holders.of_rows), (vec!["north".to_owned(), "south".into()], vec![0, 1, 0]));
    assert_eq!(found.table.width(), 1);
    let nobody = read::csv(&b"x;hospital;y\n1;;0\n"[..], &options).unwrap_err().to_string();
    assert!(nobody.starts_with("line 2: `hospital` is ``: somebody must hold the row"), "{nobody}");
}

#[test]
fn files_are_known_by_their_hashes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    std::fs::write(&path, "1,2\n").unwrap();
    let found = read::open(&path, &Options::default()).unwrap();
    // `printf '1,2\n' | sha256sum`
    assert_eq!(found.sources.len(), 1);
    assert_eq!(found.sources[0].file, "a.csv");
    assert_eq!(found.sources[0].sha256, "52186c933993da4082b3cdc7c40bb4bf735b391ff54a2ef78c037dda6c38a680");
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        text in "[0-3,;:'\"{}?%@#ae. \n\t-]{0,80}",
        rows in "[0-3,;:'\"{}?a. \n]{0,60}",
    ) {
        let packed = [&[0x1f, 0x8b], bytes.as_slice()].concat();
        let options = [
            Options::default(),
            Options { header: Header::No, missing: Missing::Value(0.0), ..Options::default() },
            Options { peer: Some(Column::Index(1)), label: Column::Index(0), left: vec![Column::Index(2)], ..Options::default() },
            Options { categories: [("0".to_owned(), vec!["a".to_owned()])].into(), ..Options::default() },
        ];
        for input in [bytes.as_slice(), text.as_bytes(), rows.as_bytes(), &packed, &gz(text.as_bytes())] {
            for options in &options {
                if let Ok(found) = read::csv(input, options) {
                    prop_assert!(found.table.rows() > 0 && found.table.view().features.iter().all(|x| x.is_finite()));
                }
            }
            if let Ok(found) = read::idx(input, &LABELS[..]) {
                prop_assert_eq!(found.table.rows(), 2);
            }
        }
    }
}

/// Set `SOTTOVOCE_DATA` to a folder whose subfolder `mnist` holds the original files. The counts are those of the published test set.
#[test]
fn digits_are_read_in_their_original_format() {
    let Some(folder) = sottovoce_testing::data("mnist") else { return };
    let path = folder.join("mnist/t10k-images-idx3-ubyte.gz");
    let table = open(&path, &Options::default()).unwrap();
    assert_eq!((table.rows(), table.width()), (10_000, 784));
    let count = |class: usize| table.labels().iter().filter(|&&label| label == class as f64).count();
    let counts: Vec<usize> = (0..10).map(count).collect();
    assert_eq!(counts, [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]);
}
