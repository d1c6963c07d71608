//! What stands below the help of each `run`.

pub(super) const QUICKSTART: &str = "Examples:\n  sottovoce run quickstart\n  sottovoce run quickstart --seed 7 --out my-report --overwrite\n  \
                  sottovoce run quickstart --no-report --json\n  sottovoce run quickstart --seeds 10";

pub(super) const AVERAGING: &str = "Examples:
  sottovoce run averaging --graph friends.graphml --values mine.csv --epsilon 2
  sottovoce run averaging --graph a.txt --values mine.csv --range 0:200 --sigma 50 --steps 9
  sottovoce run averaging --peers 32 --drop 0.01 --crashes 3@500 --timeout 2000 --seeds 10
  sottovoce run averaging --peers 16 --protocol butterfly --epsilon 1 --no-report --json
  sottovoce run averaging --peers 64 --protocol butterfly --masks --colluders 6 --epsilon 4
  sottovoce run averaging --peers 16 --protocol walk --cap 9 --drop 0.1 --slow 3@10 --seeds 10

A table of values has a header: a column `peer` with names as in the graph, and a column for each number. The range is public; what lies
outside is moved inside. A token that walks (--protocol walk) averages what its holders add; who passes it on and hears no answer for --timeout
sends it again, after three times to another neighbour. The report's folder also holds the experiment as a file (run it again: sottovoce run experiment.toml).";

pub(super) const LEARNING: &str = "Examples:
  sottovoce run learning
  sottovoce run learning --cancel 10 --colluders 6 --epsilon 1
  sottovoce run learning --method walk --epsilon 4 --against worst-peer --out my-report
  sottovoce run learning --method gossip --graph friends.txt --data DIR --sigma 2 --epsilon 8
  sottovoce run learning --fresh-graphs 1 --iterations 5 --set protocol.accelerated=true
  sottovoce run learning --ridge 0.1 --set final-model=weighted --iterations 20
  sottovoce run learning --method walk --sigma 1 --checkpoint walk.json --pause-after 1000
  sottovoce run learning --method walk --sigma 1 --checkpoint walk.json --resume
  sottovoce run learning --method walk --sigma 1 --drop-messages 0.1 --crashes 3@60000 --slow 5@20
  sottovoce run learning --data visits.csv --label ill --positive yes --range age=0:120 --peers 50
  sottovoce run learning --data visits.csv --label ill --category ward=a,b --peer-column hospital
  sottovoce run learning --data houses.csv --label price --objective squared --bounds bounds.csv
  sottovoce run learning --data train-images-idx3-ubyte.gz --classes 10

Without --data the task is a synthetic look-alike of Houses (20,640 rows, 8 features, two classes). With a target and no --sigma the noise is
calibrated so that the whole run meets the target; with both the run ends, or peers fall silent, when the target is reached.

A user's data are its rows; guarantees are of replacing all of them. So that nobody's rows move another's, a file is scaled by public bounds only
(--range, --bounds or --norm), labels are made by public rules (--positive, --label-threshold or --classes; of 0 and 1, or -1 and 1, 1 is positive),
categories are those that are named (--category), and what is missing is refused or a number given beforehand (--missing). Who holds a row
(--peer-column) and how many rows there are is public. Losses, accuracies and curves are
computed without privacy; a simulation hides nothing, since its noise follows from its seed.";

pub(super) const PERSONALIZED: &str = "Examples:
  sottovoce run personalized
  sottovoce run personalized --task tastes --epsilon 2 --updates 5 --out my-report
  sottovoce run personalized --law laplace --clip 0.2 --set protocol.warm=0.05 --epsilon 0.5
  sottovoce run personalized --data ml-100k --mu 2 --clip 3 --updates 5
  sottovoce run personalized --data shops.csv --peer-column shop --similar shops.txt
  sottovoce run personalized --data shops.csv --peer-column shop --profiles places.csv
  sottovoce run personalized --drop 0.1 --set network.leave=3@10 --set network.join=7@5

Agents with similar tasks have similar models: each moves hers towards her neighbours' and against the gradient of her own rows, under noise, whenever her
clock wakes her. Without --data the task is generated; with it, a column names who holds a row, and a graph with weights, or public features of agents, say who
resembles whom. Everyone is promised that no row of hers loses more than epsilon to someone who sees every message;
data sizes, similarities and features of items are public. After the last update everybody solves her own block at home, which nobody is told.";

pub(super) const DEEP: &str = "Examples:
  sottovoce run deep
  sottovoce run deep --method dinno --epsilon 4 --split 1 --out my-report
  sottovoce run deep --method dsgd --fiedler 0.1 --noise-multiplier 2 --epsilon 6
  sottovoce run deep --method central --noise-multiplier 0 --clip inf
  sottovoce run deep --data mnist --rounds 2000 --lot 256 --epsilon 1
  sottovoce run deep --data mnist --rounds 2000 --lot 256 --device gpu
  sottovoce run deep --fiedler 1 --epsilon 1 --cancel 30 --colluders 2
  sottovoce run deep --checkpoint net.bin --pause-after 100
  sottovoce run deep --checkpoint net.bin --resume

Without --data the images are drawn: ten figures by a shaky hand. In every round agents mix their models with their neighbours' and step against a gradient of a
few of their own images, each clipped, under noise. Everyone is promised that no image of hers loses more than epsilon to someone who sees every
message; how many images everybody has is public. Losses and accuracies are computed without privacy.";

pub(super) const RUMOR: &str = "Examples:\n  sottovoce run rumor\n  sottovoce run rumor --peers 4096 --curious 400 --delta 0.2 --out my-report\n  \
                  sottovoce run rumor --muting 1 --no-report --json\n  \
                  sottovoce run rumor --peers 256 --muting 0.5 --drop 0.1 --set clocks=poisson --seeds 200\n  \
                  sottovoce run rumor --graph friends.txt --muting 0.6 --set churn=0.2";

pub(super) const FILE: &str = "Examples:\n  sottovoce new averaging > my.toml\n  sottovoce run my.toml\n  sottovoce run my.toml --seeds 10 --out mine";
