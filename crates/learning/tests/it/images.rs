//! Images from files, resized and dealt out; what is wrong with a file is said with its name.

use sha2::{Digest, Sha256};
use sottovoce_learning::images::{self, CIFAR10, MNIST, Normal};
use sottovoce_learning::net::Shape;
use sottovoce_learning::{Images, Result};

fn refused<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().to_string()
}

/// A file of `count` images in CIFAR's form.
fn cifar(labels: &[&[u8]]) -> Vec<u8> {
    let record = |(number, labels): (usize, &&[u8])| {
        let pixels = (0..3072).map(move |at| ((number * 7 + at) % 251) as u8);
        labels.iter().copied().chain(pixels).collect::<Vec<u8>>()
    };
    labels.iter().enumerate().flat_map(record).collect()
}

#[test]
fn cifar_is_read_as_it_is_written() {
    let ten = images::cifar10(cifar(&[&[3], &[9]]).as_slice()).unwrap();
    assert_eq!((ten.len(), ten.classes(), ten.labels()), (2, 10, &[3, 9][..]));
    assert_eq!(ten.shape(), Shape { channels: 3, height: 32, width: 32 });
    assert_eq!(ten.pixels(1)[..3], [7, 8, 9]);
    // The coarse label comes first, and is not the label.
    let hundred = images::cifar100(cifar(&[&[19, 99], &[4, 0]]).as_slice()).unwrap();
    assert_eq!((hundred.classes(), hundred.labels()), (100, &[99, 0][..]));
    assert_eq!(hundred.pixels(0)[..3], [0, 1, 2]);
}

#[test]
fn cifar_of_another_size_or_label_is_refused() {
    let whole = cifar(&[&[3], &[9]]);
    for cut in [0, 1, 3072, whole.len() - 1] {
        let error = refused(images::cifar10(&whole[..cut]));
        assert!(error.starts_with(&format!("`bytes` is {cut}: CIFAR-10 has 3073")), "{error}");
    }
    assert!(refused(images::cifar100(whole.as_slice())).contains("CIFAR-100 has 3074"));
    let error = refused(images::cifar10(cifar(&[&[3], &[10]]).as_slice()));
    assert!(error.starts_with("`label` is 10 in row 1: there are 10 classes"), "{error}");
}

fn idx(sizes: &[u32], bytes: &[u8]) -> Vec<u8> {
    let sizes_of = sizes.iter().flat_map(|size| size.to_be_bytes());
    [0, 0, 8, sizes.len() as u8].into_iter().chain(sizes_of).chain(bytes.iter().copied()).collect()
}

#[test]
fn idx_is_read_and_checked() {
    let (two, labels) = (idx(&[2, 1, 3], &[1, 2, 3, 4, 5, 6]), idx(&[2], &[7, 1]));
    let read = |images: &[u8], labels: &[u8]| images::idx(images, labels, 8);
    let found = read(&two, &labels).unwrap();
    assert_eq!((found.pixels(1), found.label(0)), (&[4, 5, 6][..], 7));
    assert!(refused(read(&two[..17], &labels)).contains("end after 1 of the 6 bytes"));
    assert!(refused(read(&idx(&[2, 3], &[0; 6]), &labels)).contains("have 2 sizes"));
    assert!(refused(images::idx(two.as_slice(), labels.as_slice(), 7)).contains("`label` is 7 in row 0"));
    assert!(refused(read(&two, &idx(&[3], &[0; 3]))).contains("2 images but 3 labels"));
}

fn folder(files: &[(&str, Vec<u8>)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    folder
}

#[test]
fn folders_are_known_by_their_files() {
    let mut files: Vec<(String, Vec<u8>)> =
        (1..=5).map(|number| (format!("data_batch_{number}.bin"), cifar(&[&[number]]))).collect();
    files.push(("test_batch.bin".into(), cifar(&[&[0], &[6]])));
    let files: Vec<(&str, Vec<u8>)> =
        files.iter().map(|(name, bytes)| (name.as_str(), bytes.clone())).collect();
    let ten = images::open(folder(&files).path()).unwrap();
    assert_eq!((ten.train.labels(), ten.test.len(), ten.sources.len()), (&[1, 2, 3, 4, 5][..], 2, 6));
    let hundred = folder(&[("train.bin", cifar(&[&[1, 50]])), ("test.bin", cifar(&[&[1, 51]]))]);
    assert_eq!(images::open(hundred.path()).unwrap().test.labels(), [51]);
    // What is missing or broken is named.
    let error = refused(images::open(folder(&files[..5]).path()));
    assert!(error.contains("test_batch.bin`: cannot be opened"), "{error}");
    let error = refused(images::open(folder(&[("train.bin", vec![1; 5]), ("test.bin", vec![])]).path()));
    assert!(error.contains("train.bin`: `bytes` is 5: "), "{error}");
    assert!(refused(images::open(folder(&[]).path())).contains("no images are known there"));
    // Small images are brought to the size that nets take.
    let grey = folder(&[
        ("train-images-idx3-ubyte", idx(&[1, 28, 28], &[9; 784])),
        ("train-labels-idx1-ubyte", idx(&[1], &[4])),
        ("t10k-images-idx3-ubyte", idx(&[1, 32, 32], &[8; 1024])),
        ("t10k-labels-idx1-ubyte", idx(&[1], &[5])),
    ]);
    let found = images::open(grey.path()).unwrap();
    assert_eq!((found.train.pixels(0), found.test.pixels(0)), (&[9; 1024][..], &[8; 1024][..]));
    assert_eq!(found.sources.len(), 4);
}

#[test]
fn images_are_checked() {
    let shape = Shape { channels: 1, height: 2, width: 2 };
    let new =
        |pixels: usize, labels: &[u8], classes| Images::new(shape, vec![0; pixels], labels.to_vec(), classes);
    assert!(
        refused(new(7, &[0, 0], 2)).starts_with("`pixels` is 7 bytes: 2 labels take as many images of 1x2x2")
    );
    assert!(refused(new(4, &[0], 0)).starts_with("`classes` is 0: "));
    let good = new(8, &[0, 1], 2).unwrap();
    assert!(refused(good.clone().normalised(&CIFAR10)).contains("one for each of the 1 channels"));
    for deviation in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(
            refused(good.clone().normalised(&[Normal { mean: 0.0, deviation }]))
                .contains("positive deviation")
        );
    }
    assert!(refused(good.gather(&[2])).starts_with("`image` is 2: there are 2"));
    assert_eq!(good.gather(&[1, 1]).unwrap().labels(), [1, 1]);
}

/// At `t = 1` each class has one holder, at 0 all hold alike; nobody's image is another's.
#[test]
fn splits_by_labels_are_the_papers() {
    let images = images::drawn(200, 3).unwrap();
    for t in [0.0, 0.4, 1.0] {
        let lists = images.similarity(10, t, 1).unwrap();
        let mut all: Vec<usize> = lists.concat();
        all.sort_unstable();
        assert_eq!(all, (0..200).collect::<Vec<_>>());
        for (peer, list) in lists.iter().enumerate() {
            let own = list.iter().filter(|&&at| usize::from(images.label(at)) == peer).count();
            let expected = 20.0 * (1.0 - 9.0 * (1.0 - t) / 10.0);
            assert!((own as f64 - expected).abs() <= 1.0, "{own} of peer {peer} at {t}");
        }
    }
    assert!(refused(images.similarity(11, 1.0, 1)).contains("would hold no row"));
}

/// The bytes of MNIST's test set at 32x32, as Pillow makes them.
#[test]
fn mnist_is_resized_as_by_pillow() {
    let Some(folder) = sottovoce_testing::data("mnist") else { return };
    let folder = folder.join("mnist");
    let found = images::open(&folder).unwrap();
    assert_eq!((found.train.len(), found.test.len()), (60_000, 10_000));
    let mut hash = Sha256::new();
    (0..10_000).for_each(|at| hash.update(found.test.pixels(at)));
    let hash: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hash, "750966a83c3f66b21f310636df69984b116407e280d0e2fc2f606aa33c6749cc");
    assert_eq!(MNIST.len(), found.train.shape().channels);
}
