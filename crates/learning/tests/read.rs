//! Readers on tiny files, well formed and not.

#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use sottovoce_learning::read::{Column, Header, Options, Separator, arff, csv, idx, open, svmlight};
use sottovoce_learning::{Result, Table};

fn gz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
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
    // A header is seen by a feature that is no number; the label alone does not make one.
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
    assert!(read("1,2,3\n\n4,5\n").starts_with("line 3: 2 fields, where the first line has 3; "));
    assert!(read("a,b,y\n1,?,3\n").starts_with("line 2: `b` is `?`: give a finite number"));
    assert!(read("1,2,3\n1,nan,3\n").starts_with("line 2: column 1 is `nan`: "));
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
    assert!(read("1,2\n\"3\"4,5\n").starts_with("line 2: `4,5` follows a quoted field"));
    assert!(read("1\t2\n3\t\n").starts_with("line 2: `label` is ``: "));
    assert_eq!(read("a,b\n"), "no rows follow the header; give at least one");
    let packed = gz(b"1,2\n3,4\n");
    assert!(
        refused(csv(&packed[..packed.len() - 6], &Options::default()))
            .starts_with("cannot be read to its end")
    );
}

const ARFF: &str = "% comment\n@RELATION r\n\n@attribute 'age of house' REAL\n@attribute class {P, 'N \\'n', \"Q\"} % c\n\
                    @Attribute x integer\n@DATA\n% another\n1.5,P,2\n3, 'N \\'n' ,4\n\n5,Q,-6\n";

#[test]
fn arff_classes_keep_their_order() {
    let table = arff(ARFF.as_bytes(), &Column::Name("class".into())).unwrap();
    assert_eq!(table.view().features, [1.5, 2.0, 3.0, 4.0, 5.0, -6.0]);
    assert_eq!(
        (table.labels(), table.classes()),
        (&[0.0, 1.0, 2.0][..], &["P", "N 'n", "Q"].map(String::from)[..])
    );
    assert_eq!((table.column(0), table.column(1)), ("age of house".into(), "x".into()));
    assert_eq!(table.declared_classes(), Some(table.classes()));
    assert_eq!(refused(table.clone().binary("R")), "`positive` is `R`: give one of: P, N 'n, Q");
    let binary = table.binary("N 'n").unwrap();
    assert_eq!(binary.labels(), [-1.0, 1.0, -1.0]);
    let numeric =
        ARFF.replace("{P, 'N \\'n', \"Q\"} % c", "numeric").replace(['P', 'Q'], "7").replace("'N \\'n'", "8");
    let table = arff(numeric.as_bytes(), &Column::Index(1)).unwrap();
    assert_eq!((table.labels(), table.classes().len()), (&[7.0, 8.0, 7.0][..], 0));
}

#[test]
fn malformed_arff_is_refused_with_its_line() {
    let with = |from: &str, to: &str| refused(arff(ARFF.replace(from, to).as_bytes(), &Column::Index(1)));
    assert!(
        with("@DATA", "@dato").starts_with("line 7: `@dato` is not `@relation`, `@attribute` or `@data`")
    );
    assert!(with("1.5,P,2", "1.5,P").starts_with("line 9: 2 values, where 3 attributes are declared"));
    assert!(with("1.5,P,2", "?,P,2").starts_with("line 9: `age of house` is `?`: "));
    assert!(with("1.5,P,2", "1.5,Z,2").starts_with("line 9: `class` is `Z`: give one of P, N 'n, Q"));
    assert!(with("1.5,P,2", "{0 1.5, 1 P}").starts_with("line 9: sparse rows"));
    assert!(with("1.5,P,2", "1.5,'P,2").starts_with("line 9: a closing ' is missing"));
    assert!(with("1.5,P,2", "1.5,'P'x,2").starts_with("line 9: `x,2` follows a quoted value"));
    assert!(with("@Attribute x integer", "@attribute x").starts_with("line 6: an attribute needs a name"));
    assert!(with("@Attribute x integer", "@attribute").starts_with("line 6: an attribute needs a name"));
    assert!(with("x integer", "x string").starts_with("line 6: `x` is string; features must be numeric"));
    assert!(with("x integer", "x {1,2}").starts_with("line 6: `x` is nominal; "));
    assert!(with("x integer", "x {1,2").starts_with("line 6: a `}` is missing"));
    let read = |text: &str| refused(arff(text.as_bytes(), &Column::Last));
    assert!(read("@attribute a real\n").starts_with("there is no `@data`"));
    assert!(read("@attribute a real\n@data\n1\n").contains("at least one feature"));
    assert!(read("@attribute a real\n@attribute b real\n@data\n").starts_with("no rows follow `@data`"));
    assert!(
        refused(arff(ARFF.as_bytes(), &Column::Name("y".into())))
            .starts_with("`label` is `y`: the columns are")
    );
}

#[test]
fn svmlight_is_made_dense() {
    let text = "# header\n+1 qid:3 1:0.5 3:-2 # name\n-1\n\n1 2:1e1\n";
    let table = svmlight(text.as_bytes(), None).unwrap();
    assert_eq!(table.view().features, [0.5, 0.0, -2.0, 0.0, 0.0, 0.0, 0.0, 10.0, 0.0]);
    assert_eq!(table.labels(), [1.0, -1.0, 1.0]);
    assert_eq!(svmlight(text.as_bytes(), Some(5)).unwrap().width(), 5);
}

#[test]
fn malformed_svmlight_is_refused_with_its_line() {
    let read = |text: &str| refused(svmlight(text.as_bytes(), None));
    assert!(read("# nothing\n").starts_with("no rows found"));
    assert!(read("1 1:1\nx 1:1\n").starts_with("line 2: `label` is `x`: "));
    assert!(read("1 0:1\n").starts_with("line 1: `0:1` follows index 0; indices count from 1"));
    assert!(read("1 2:1 2:1\n").starts_with("line 1: `2:1` follows index 2; "));
    assert!(read("1 2\n").starts_with("line 1: `2` is not `index:value`"));
    assert!(read("1 -2:1\n").starts_with("line 1: `-2:1` is not `index:value`"));
    assert!(read("1 2:inf\n").starts_with("line 1: feature 2 is `inf`: "));
    assert!(read("1 4000000000:1\n").starts_with("`width` is 4000000000: 1 dense rows would be more than"));
    assert!(read("1 99999999999999999999:1\n").starts_with("line 1: "));
    assert!(
        refused(svmlight(&b"1 3:1\n"[..], Some(2))).starts_with("line 1: index 3 is beyond the width of 2")
    );
    assert!(refused(svmlight(&b"1\n"[..], Some(0))).starts_with("`width` is 0: "));
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
    assert_eq!(
        read(&write("a.arff", b"@attribute a real\n@attribute b real\n@data\n1,2\n")).unwrap().rows(),
        1
    );
    assert_eq!(read(&write("a.svm", b"1 1:1\n")).unwrap().rows(), 1);
    write("t-labels-idx1-ubyte.gz", &gz(&LABELS));
    assert_eq!(read(&write("t-images-idx3-ubyte.gz", &gz(&IMAGES))).unwrap().rows(), 2);
    assert_eq!(read(&write("t-images-idx3-ubyte", &IMAGES)).unwrap().rows(), 2);
    let lonely = refused(read(&write("u-images-idx3-ubyte", &IMAGES)));
    assert!(lonely.contains("u-labels-idx1-ubyte`: cannot be opened"), "{lonely}");
    assert!(refused(read(&write("idx3-ubyte", &IMAGES))).contains("no labels are known"));
    assert!(refused(read(&write("a.xls", b"1"))).contains("a.xls`: the name does not say the format; "));
    assert!(refused(read(&folder.path().join("none.csv"))).contains("none.csv`: cannot be opened"));
    let bad = refused(read(&write("bad.csv", b"1,2\nx,2\n")));
    assert!(bad.ends_with(
        "bad.csv`: line 2: column 0 is `x`: give a finite number with a decimal point, or remove the row"
    ));
}

/// Set `SOTTOVOCE_DATA` to a folder whose subfolder `mnist` holds the original files. The counts are those of the published test set.
#[test]
fn digits_are_read_in_their_original_format() {
    let Some(folder) = std::env::var_os("SOTTOVOCE_DATA") else {
        println!("skipped: set SOTTOVOCE_DATA to the folder that contains `mnist`");
        return;
    };
    let path = Path::new(&folder).join("mnist/t10k-images-idx3-ubyte.gz");
    let table = open(&path, &Options::default()).unwrap();
    assert_eq!((table.rows(), table.width()), (10_000, 784));
    let count = |class: usize| table.labels().iter().filter(|&&label| label == class as f64).count();
    let counts: Vec<usize> = (0..10).map(count).collect();
    assert_eq!(counts, [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]);
}
