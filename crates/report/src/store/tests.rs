//! Nothing is replaced unasked, nothing is half-written, no draft stays.

use super::*;

type Files = [(&'static str, Vec<u8>); 2];

fn files(text: &str) -> Files {
    [("a.txt", text.into()), ("b.txt", text.into())]
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

#[test]
fn nothing_is_replaced_unless_asked_and_no_draft_is_left() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), &files("one"), false).unwrap();
    let error = write(dir.path(), &files("two"), false).unwrap_err().to_string();
    let shown = format!("`out` is {}: a.txt exists there", dir.path().display());
    assert!(error.starts_with(&shown) && error.ends_with("--overwrite to replace it"), "{error}");
    assert_eq!(read(dir.path(), "b.txt"), "one");
    write(dir.path(), &files("two"), true).unwrap();
    assert_eq!((read(dir.path(), "a.txt"), read(dir.path(), "b.txt")), ("two".into(), "two".into()));
    assert_eq!(names(dir.path()), ["a.txt", "b.txt"]);
}

#[test]
fn a_check_before_the_work_says_what_the_writing_would() {
    let dir = tempfile::tempdir().unwrap();
    let inside = dir.path().join("new/report");
    check(&inside, &["a.txt"], false).unwrap();
    assert!(names(dir.path()).is_empty(), "a check makes nothing");
    write(&inside, &files("one"), false).unwrap();
    assert!(check(&inside, &["b.txt"], false).is_err() && check(&inside, &["b.txt"], true).is_ok());
    let file = inside.join("a.txt");
    assert!(check(&file, &["x"], true).unwrap_err().to_string().contains("not a folder"));
}

/// The first file takes its name and the second cannot: both are as before.
#[test]
fn what_was_there_is_put_back() {
    for earlier in [Some("one"), None] {
        let dir = tempfile::tempdir().unwrap();
        earlier.iter().for_each(|text| fs::write(dir.path().join("a.txt"), text).unwrap());
        let drafts = ["a.txt", "b.txt"].map(|name| Draft::new(&dir.path().join(name)).unwrap());
        // Someone takes the second name with a folder, between the check and the naming.
        let late = dir.path().join("b.txt");
        let earlier_names: Vec<String> = earlier.iter().map(|_| "a.txt".to_owned()).collect();
        let result = name_late(&drafts, &late);
        drop(drafts);
        assert!(result.is_err());
        fs::remove_dir(&late).unwrap();
        assert_eq!(names(dir.path()), earlier_names);
        earlier.iter().for_each(|text| assert_eq!(read(dir.path(), "a.txt"), *text));
    }
}

/// Names drafts after `late` has become a folder; since no earlier file was there, nothing is kept for it.
fn name_late(drafts: &[Draft], late: &Path) -> io::Result<()> {
    let earlier: Vec<Earlier> =
        drafts.iter().map(|draft| Earlier::keep(&draft.target)).collect::<io::Result<_>>()?;
    fs::create_dir(late)?;
    name_each(drafts, &earlier, true)
}

#[test]
fn a_failure_leaves_no_folder_and_no_draft() {
    let dir = tempfile::tempdir().unwrap();
    let inside = dir.path().join("new/report");
    // The second name lies in a folder that is not there.
    let bad: [(&str, Vec<u8>); 2] = [("a.txt", "x".into()), ("missing/b.txt", "x".into())];
    let error = write(&inside, &bad, false).unwrap_err();
    assert!(matches!(error, Error::Write { .. }), "{error}");
    assert!(error.to_string().contains("choose another folder"), "{error}");
    assert!(names(dir.path()).is_empty());
    fs::create_dir_all(dir.path().join("b.txt")).unwrap();
    assert!(write(dir.path(), &files("two"), true).unwrap_err().to_string().contains("b.txt is a folder"));
    assert_eq!(names(dir.path()), ["b.txt"]);
}

#[test]
fn one_file_is_whole_or_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state.json");
    let put = |text: &'static str, overwrite: bool| {
        write_file::<Error>("checkpoint", &path, overwrite, |file| {
            file.write_all(text.as_bytes()).map_err(|e| refused("checkpoint", &path, dir.path(), e))
        })
    };
    put("one", false).unwrap();
    let error = put("two", false).unwrap_err().to_string();
    assert!(error.starts_with("`checkpoint` is ") && error.contains("the file exists"), "{error}");
    let broken = write_file("checkpoint", &path, true, |file| {
        file.write_all(b"half").unwrap();
        Err(Error::Inconsistent { field: "x", problem: "broke".into() })
    });
    assert!(broken.is_err());
    assert_eq!(read(dir.path(), "state.json"), "one");
    put("two", true).unwrap();
    assert_eq!((read(dir.path(), "state.json").as_str(), names(dir.path()).len()), ("two", 1));
}

#[test]
fn places_that_cannot_hold_a_file_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("no/such/file");
    for (path, problem) in [
        (dir.path(), "it is a folder; give a file name"),
        (missing.as_path(), "create it first"),
        (Path::new("/dev/null"), "it is not a plain file"),
        (Path::new(".."), "folder"),
        (Path::new(""), "it has no file name"),
    ] {
        let error = check_file("out", path, true).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

/// What a process of the same number left behind stands in nobody's way.
#[test]
fn old_drafts_are_passed_over() {
    let dir = tempfile::tempdir().unwrap();
    let old = format!(".sottovoce-{}-0.partial", std::process::id());
    fs::write(dir.path().join(&old), "old").unwrap();
    write(dir.path(), &files("new"), false).unwrap();
    assert_eq!(names(dir.path()), [old.as_str(), "a.txt", "b.txt"]);
    assert_eq!(read(dir.path(), &old), "old");
}

/// Two threads that write into one folder at the same time, over and over: each file holds what was written to it.
#[test]
fn threads_do_not_take_each_others_drafts() {
    let dir = tempfile::tempdir().unwrap();
    let many = |name: &'static str| {
        let folder = dir.path();
        move || {
            for round in 0..300 {
                let text = format!("{name} {round}");
                write_file("out", &folder.join(name), true, |file| {
                    file.write_all(text.as_bytes()).unwrap();
                    Ok::<(), Error>(())
                })
                .unwrap();
                assert_eq!(read(folder, name), text);
            }
        }
    };
    std::thread::scope(|scope| {
        ["a", "b", "c"].map(|name| scope.spawn(many(name))).map(|thread| thread.join().unwrap())
    });
    assert_eq!(names(dir.path()), ["a", "b", "c"]);
}
