//! One invocation or more of every command that prints a result, and the files they read.

use std::path::Path;

/// Commands by the name of their schema, with `GRAPH` and other files in a folder.
pub(crate) const COMMANDS: &[(&str, &str)] = &[
    ("graph generate", "graph generate --family geometric --peers 12 --mean-degree 5"),
    ("graph generate", "graph generate --family davis"),
    (
        "graph generate",
        "graph generate --family geometric-fiedler --peers 12 --set fiedler=0.1 --out OUT.graphml",
    ),
    ("graph schedule", "graph schedule --kind randomised --graph GRAPH --steps 9 --out OUT-edges.json"),
    ("graph schedule", "graph schedule --kind fresh --peers 12 --steps 3 --out OUT-fresh.json"),
    ("graph convert", "graph convert NAMED --out OUT-converted.graphml"),
    ("graph convert", "graph convert OUT.graphml"),
    ("graph inspect", "graph inspect GRAPH --distances"),
    ("graph inspect", "graph inspect NAMED --centrality"),
    ("graph inspect", "graph inspect ONE --quiet"),
    ("account averaging", "account averaging --graph GRAPH --steps 2 --observers 0"),
    (
        "account averaging",
        "account averaging --protocol walk --graph GRAPH --weights uniform --lazy 0.1 --steps 60 --sigma 1",
    ),
    ("account averaging", "account averaging --graph GRAPH --steps 2 --sigma 1"),
    (
        "account averaging",
        "account averaging --graph GRAPH --steps 2 --observers 0,1 --relay-noise 0.1 --results published",
    ),
    ("account averaging", "account averaging --graph NAMED --steps 2 --observers b"),
    ("account averaging", "account averaging --graph GRAPH --steps 2 --all-pairs"),
    ("account averaging", "account averaging --graph GRAPH --steps 2 --worst-coalition 2"),
    ("account averaging", "account averaging --schedule SCHEDULE --observers 0"),
    ("account averaging", "account averaging --peers 8 --cancel 3 --keys regular:4 --colluders 2 --steps 2"),
    (
        "account learning",
        "account learning --method butterfly --peers 8 --cancel 3 --colluders 2 --observers 1",
    ),
    (
        "audit reconstruct",
        "audit reconstruct --protocol butterfly --peers 8 --cancel 3 --wire-tapper --runs 100",
    ),
    (
        "run averaging",
        "run averaging --protocol butterfly --peers 8 --cancel 3 --keys regular:4 --colluders 1 --no-report",
    ),
    (
        "account averaging",
        "account averaging --protocol butterfly --peers 8 --masks --keys regular:4 --colluders 2 --epsilon 2",
    ),
    ("run averaging", "run averaging --protocol butterfly --peers 8 --masks --colluders 2 --no-report"),
    (
        "audit reconstruct",
        "audit reconstruct --protocol butterfly --peers 8 --masks --wire-tapper --observers 1 --runs 100",
    ),
    ("plan averaging", "plan averaging --peers 8 --epsilon 4 --colluders 2"),
    ("run learning", "run learning --peers 16 --seeds 1 --cancel 3 --no-report"),
    ("plan averaging", "plan averaging --peers 8 --epsilon 4 --colluders 2"),
    ("plan learning", "plan learning --peers 16 --epsilon 4 --colluders 2 --iterations 5 --runs 1"),
    (
        "account averaging",
        "account averaging --graph GRAPH --keys GRAPH --cancel 3 --steps 2 --wire-tapper --observers 1",
    ),
    (
        "account averaging",
        "account averaging --protocol accelerated-randomised --graph GRAPH --steps 9 --observers 0",
    ),
    ("account learning", "account learning --graph GRAPH --iterations 2 --observers 0,1"),
    ("account learning", "account learning --method butterfly --peers 8 --iterations 2 --observers 0"),
    (
        "account learning",
        "account learning --peers 12 --fresh-graphs 2 --iterations 2 --set protocol.heterogeneity=0.2 --observers 0",
    ),
    ("account walk", "account walk --graph GRAPH --steps 4 --observers 1 --trajectory PATH"),
    ("account walk", "account walk --graph GRAPH --steps 9 --observers 1 --sigma 8 --order 2 --expected 200"),
    ("account walk", "account walk --graph GRAPH --steps 9 --observers 1 --sigma 1 --order 8 --expected 50"),
    (
        "account walk",
        "account walk --graph GRAPH --steps 4 --observers 1 --trajectory PATH --averaging running",
    ),
    (
        "account walk",
        "account walk --graph GRAPH --weights uniform --steps 9 --observers 1 --sigma 8 --order 2 --expected 99 --averaging 0.2",
    ),
    ("account rumor", "account rumor --peers 100 --curious 10 --muting 0.1"),
    ("account rumor", "account rumor --peers 100 --curious 99 --muting 1"),
    ("account rumor", "account rumor --peers 20 --muting 0.5 --drop 0.1 --set acknowledge=true"),
    ("account rumor", "account rumor --graph GRAPH --curious-peers 3 --muting 0.3 --drop 0.1"),
    ("account rumor", "account rumor --graph NAMED --curious-peers c --muting 0 --epsilon 0.5 --pair a,b"),
    ("account mechanism", "account mechanism --gaussian --noise-multiplier 2 --table --epsilon 1"),
    ("account mechanism", "account mechanism --gaussian --noise-multiplier 2 --delta 0"),
    (
        "account mechanism",
        "account mechanism --laplace --scale 2 --group 3 --rows 100 --batch-size 10 --epochs 2",
    ),
    ("account mechanism", "account mechanism --gaussian --noise-multiplier 4 --batch 10 --population 100"),
    ("account mechanism", "account mechanism --discrete-gaussian --sigma 4 --steps 2"),
    (
        "account mechanism",
        "account mechanism --randomized-response --random-probability 0.5 --adjacency replace",
    ),
    ("account mechanism", "account mechanism --events EVENTS"),
    ("account mechanism", "account mechanism --gaussian --calibrate --epsilon 3"),
    ("account mechanism", "account mechanism --gaussian --noise-multiplier 2 --calibrate-steps --epsilon 3"),
    (
        "account mechanism",
        "account mechanism --gaussian --noise-multiplier 4 --population 100 --calibrate-batch --epsilon 3",
    ),
    (
        "account mechanism",
        "account mechanism --gaussian --noise-multiplier 4 --rows 100 --calibrate-batch --epsilon 3",
    ),
    ("account mechanism", "account mechanism --laplace --calibrate --epsilon 3"),
    ("account mechanism", "account mechanism --discrete-gaussian --calibrate --epsilon 3"),
    (
        "account mechanism",
        "account mechanism --randomized-response --adjacency replace --calibrate --epsilon 3",
    ),
    ("plan averaging", "plan averaging --graph GRAPH --target-worst 1"),
    ("plan averaging", "plan averaging --graph GRAPH --target-worst 1 --observers 0,1"),
    (
        "plan averaging",
        "plan averaging --peers 16 --target-far --epsilon 1 --target-mean 4 --out OUT-plan.toml",
    ),
    (
        "plan averaging",
        "plan averaging --graph GRAPH --distance hops --within 1=4 --farther 2 --page OUT.html --out OUT-falling.toml",
    ),
    ("plan rumor", "plan rumor --peers 100 --curious 10 --delta 0.2 --out OUT-rumor.toml"),
    (
        "plan learning",
        "plan learning --peers 16 --rows 20 --iterations 2 --runs 1 --epsilon 4 --out OUT-learning.toml",
    ),
    ("audit reconstruct", "audit reconstruct --graph GRAPH --steps 2 --observers 0 --runs 200"),
    ("audit reconstruct", "audit reconstruct --protocol butterfly --peers 8 --observers 0 --runs 200"),
    (
        "audit reconstruct",
        "audit reconstruct --protocol accelerated-randomised --graph GRAPH --steps 9 --observers 0 --runs 200",
    ),
    ("audit source", "audit source --peers 20 --curious 3 --muting 0.5 --runs 200"),
    ("audit source", "audit source --graph GRAPH --curious 1 --muting 0.5 --runs 200"),
    ("audit source", "audit source --graph NAMED --curious 1 --muting 0.5 --runs 200"),
    ("run quickstart", "run quickstart --no-report"),
    ("run averaging", "run averaging --graph NAMED --steps 2 --sigma 1 --out OUT-averaging"),
    (
        "run averaging",
        "run averaging --graph GRAPH --steps 2 --distance hops --within 1=4 --farther 2 --no-report",
    ),
    (
        "run averaging",
        "run averaging --graph NAMED --protocol walk --steps 30 --cap 5 --sigma 1 --drop 0.2 --timeout 500 --out OUT-walk",
    ),
    (
        "run averaging",
        "run averaging --graph GRAPH --protocol walk --weights uniform --tokens 2 --set walk.step-size=0.1 --seeds 2 --no-report",
    ),
    ("run rumor", "run rumor --peers 64 --out OUT-rumour"),
    ("run rumor", "run rumor --peers 32 --muting 0.5 --drop 0.1 --seeds 5 --out OUT-survival"),
    (
        "run rumor",
        "run rumor --graph NAMED --muting 0.5 --set churn=0.1 --set clocks=poisson --seeds 3 --no-report",
    ),
    ("run learning", "run learning --peers 16 --rows 20 --iterations 2 --seeds 2 --no-report"),
    ("run learning", "run learning --peers 16 --rows 20 --iterations 2 --seeds 1 --out OUT-folder"),
    (
        "run learning",
        "run learning --peers 16 --rows 20 --iterations 2 --seeds 1 --method gossip --fresh-graphs 2 --set final-model=weighted \
         --out OUT-fresh-graphs",
    ),
    (
        "run learning",
        "run learning --data COSTS --label cost --label-bounds 0:50 --norm 10 --objective squared --peers 4 --rows 4 \
         --iterations 2 --seeds 1 --no-report",
    ),
    (
        "run learning",
        "run learning --method walk --peers 16 --rows 20 --iterations 2 --seeds 1 --drop-messages 0.1 --slow 3@10 --out OUT-lossy",
    ),
    (
        "run learning",
        "run learning --method walk --graph GRAPH --weights uniform --peers 4 --rows 20 --seeds 1 --no-report",
    ),
    ("run personalized", "run personalized --agents 12 --width 4 --updates 3 --seeds 2 --out OUT-personal"),
    (
        "run personalized",
        "run personalized --task tastes --agents 12 --set task.fewest=0 --law laplace --updates 2 --seeds 1 --drop 0.1 --no-report",
    ),
    ("run personalized", "run personalized --agents 12 --width 4 --sigma 0 --seeds 1 --no-report"),
    (
        "run personalized",
        "run personalized --data ROWS --peer-column who --label cost --label-bounds 0:50 --objective squared --norm 10 --similar NAMED --set target.budget=b=0.5 \
         --updates 2 --seeds 1 --out OUT-table",
    ),
    ("account transcript personalized", "account transcript OUT-table/transcript.json"),
    ("audit file personalized", "audit OUT-table/experiment.toml --runs 50"),
    ("account personalized", "account OUT-table/experiment.toml"),
    ("account personalized", "account personalized --agents 12 --width 4 --law laplace --delta 0"),
    (
        "account personalized",
        "account personalized --agents 12 --width 4 --law laplace --set target.budget=3=0.5",
    ),
    ("account personalized", "account personalized --agents 12 --width 4 --set task.fewest=0 --sigma 0"),
    (
        "plan personalized",
        "plan personalized --agents 8 --width 3 --set task.most=20 --epsilon 2 --out OUT-personal.toml",
    ),
    ("account transcript personalized", "account transcript OUT-personal/transcript.json"),
    ("audit transcript personalized", "audit transcript OUT-personal/transcript.json"),
    ("audit file personalized", "audit OUT-personal/experiment.toml --runs 50"),
    (
        "run deep",
        "run deep --model mlp --agents 4 --images 400 --set task.test-images=50 --rounds 6 --lot 20 --epsilon 1 --out OUT-deep",
    ),
    (
        "run deep",
        "run deep --model mlp --graph NAMED --images 300 --set task.test-images=50 --rounds 3 --lot 20 --noise-multiplier 2 --method dinno --no-report",
    ),
    (
        "run deep",
        "run deep --model mlp --method central --noise-multiplier 0 --images 100 --rounds 3 --lot 20 --no-report",
    ),
    ("account deep", "account deep --agents 4 --images 400 --rounds 6 --lot 20 --epsilon 1"),
    ("account deep", "account deep --agents 4 --images 400 --rounds 6 --lot 20 --noise-multiplier 0"),
    (
        "run deep",
        "run deep --model mlp --agents 4 --images 400 --set task.test-images=50 --rounds 3 --lot 20 --noise-multiplier 2 --cancel 3 --no-report",
    ),
    (
        "account deep",
        "account deep --agents 4 --images 400 --rounds 6 --lot 20 --noise-multiplier 2 --cancel 3 --colluders 2",
    ),
    ("account transcript deep", "account transcript OUT-deep/transcript.json"),
    ("audit transcript deep", "audit transcript OUT-deep/transcript.json"),
    ("audit file deep", "audit OUT-deep/experiment.toml"),
    (
        "audit membership",
        "audit membership --model mlp --graph NAMED --images 300 --set task.test-images=50 --rounds 3 --lot 20 --noise-multiplier 2 --set noise.band=2",
    ),
    ("compare", "compare OUT-averaging OUT-averaging"),
    ("account transcript", "account transcript OUT-averaging/transcript.json"),
    ("account transcript", "account transcript OUT-averaging/transcript.json --all-pairs"),
    ("account transcript", "account transcript OUT-averaging/transcript.json --worst-coalition 2"),
    ("audit transcript", "audit transcript OUT-averaging/transcript.json"),
    (
        "run averaging",
        "run averaging --graph GRAPH --protocol walk --weights uniform --steps 20 --sigma 1 --out OUT-plain",
    ),
    ("account transcript walk", "account transcript OUT-walk/transcript.json --observers b"),
    ("account transcript walk", "account transcript OUT-plain/transcript.json"),
    ("audit transcript walk", "audit transcript OUT-plain/transcript.json"),
    ("audit transcript walk", "audit transcript OUT-walk/transcript.json"),
    ("account transcript learning", "account transcript OUT-lossy/transcript.json"),
    ("audit transcript learning", "audit transcript OUT-lossy/transcript.json"),
    ("account transcript rumor", "account transcript OUT-rumour/transcript.json"),
    ("audit transcript rumor", "audit transcript OUT-rumour/transcript.json --runs 200"),
    ("account transcript rumor", "account transcript OUT-survival/transcript.json"),
    ("audit transcript rumor", "audit transcript OUT-survival/transcript.json --runs 200"),
    ("account transcript learning", "account transcript OUT-folder/transcript.json --observers 0"),
    ("account transcript learning", "account transcript OUT-fresh-graphs/transcript.json --observers 0"),
    ("audit transcript learning", "audit transcript OUT-folder/transcript.json"),
    ("audit file learning", "audit OUT-folder/experiment.toml --runs 50"),
    ("new", "new averaging"),
    ("new", "new learning"),
    ("new", "new personalized"),
    ("new", "new deep"),
    ("new", "new rumor"),
];

/// Rows of numbers, one of which is to be learned.
const COSTS: &str = "age,days,cost\n1,2,9\n3,1,8\n4,4,30\n2,5,25\n6,3,31\n7,2,28\n5,5,40\n8,1,27\n2,2,12\n3,4,26\n1,6,29\n9,2,\
                     35\n4,1,15\n6,6,47\n5,2,22\n7,4,38\n3,3,20\n2,1,7\n8,5,48\n1,1,5\n";

/// The same with who holds a row: a, b or c.
fn rows() -> String {
    let who = ["who"].into_iter().chain(["a", "b", "c"].into_iter().cycle());
    COSTS.lines().zip(who).map(|(line, who)| format!("{who},{line}\n")).collect()
}

/// A folder with those files.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in [
        ("GRAPH", "0 1\n1 2\n2 3\n3 0\n0 2\n"),
        ("NAMED", "a b\nb c\nc a\n"),
        ("COSTS", COSTS),
        ("ROWS", &rows()),
        ("ONE", "{\"nodes\": [{\"id\": 0}], \"links\": []}"),
        ("SCHEDULE", "{\"pairwise\": [[0, 1], [1, 2]]}"),
        ("PATH", "[0, 1, 2, 3]"),
        ("EVENTS", "[{\"laplace\": {\"scale\": 2}}, {\"epsilon\": 0.5, \"delta\": 1e-6}]"),
    ] {
        let ending = match name {
            "GRAPH" | "NAMED" => "txt",
            "COSTS" | "ROWS" => "csv",
            _ => "json",
        };
        std::fs::write(folder.path().join(format!("{name}.{ending}")), content).unwrap();
    }
    folder
}

/// One of them that trains fifty nets.
pub(crate) const LONG: (&str, &str) =
    ("audit membership", "audit membership --attack threshold --method dsgd --models 10");

/// The command with the names of the files in the folder.
pub(crate) fn filled(command: &str, folder: &Path) -> String {
    let at = |name: &str| folder.join(name).display().to_string();
    let words = command.split(' ').map(|word| match word {
        "GRAPH" | "NAMED" => at(&format!("{word}.txt")),
        "COSTS" | "ROWS" => at(&format!("{word}.csv")),
        "ONE" | "SCHEDULE" | "PATH" | "EVENTS" => at(&format!("{word}.json")),
        word if word.starts_with("OUT") => at(word),
        word => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}
