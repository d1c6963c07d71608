use sottovoce_learning::Images;
use sottovoce_learning::net::{Net, Shape};
use sottovoce_privacy::{Lots, calibrate};
use sottovoce_protocol::Shared;
use sottovoce_protocol::consensus::{At, Method, Optimiser, Plan, Rates, Rule};
use sottovoce_protocol::public::Cancelling;
use sottovoce_simulator::consensus::{ConsensusSetup, Trainer};
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_views::cancelling::Secrets;

use super::super::Holdings;
use super::super::heard::Heard;
use super::*;

const ROUNDS: usize = 24;
const ROWS: usize = 2400;

/// Three agents on a path, a small net, lots of a quarter of the target's rows.
fn setting(method: Method, rule: Rule, band: usize) -> Setting {
    let shape = Shape { channels: 1, height: 6, width: 6 };
    let net = Net::perceptron(shape, &[64], 4).unwrap();
    let images = |count: usize| {
        let pixels = (0..count * 36).map(|i| (i * 7 % 251) as u8).collect();
        Images::new(shape, pixels, (0..count).map(|i| (i % 4) as u8).collect(), 4).unwrap()
    };
    let holdings = Holdings { rows: vec![images(600), images(ROWS), images(0)], test: images(20) };
    let graph = generate(&Family::Path { n: 3 }, 0, true).unwrap();
    let mixing = Mixing::new(&graph, Weights::Metropolis);
    let optimiser = Optimiser { decay: 1e-3, ..Optimiser::new(rule) };
    let plan = Plan { method, iterations: ROUNDS, rates: Rates { start: 0.2, finish: 0.05 }, optimiser };
    let lots = Lots::of_size(ROWS, 600.0).unwrap();
    let hidden = Hidden { band: Band { width: band, memory: 0.95 }, ..Hidden::new(lots, 1.0, 0.0) };
    let hidden = hidden.calibrated(plan.draws(), (4.0, 1e-5), calibrate::Method::Pld).unwrap();
    let other = Hidden::new(Lots::of_size(600, 60.0).unwrap(), 1.0, 1.0);
    let (hidden, draws) = (vec![Some(other), Some(hidden), None], vec![plan.draws(), plan.draws(), 0]);
    Setting { net, holdings, mixing, plan, hidden, secrets: None, draws, delta: 1e-5, seed: 5, points: 0 }
}

/// The same among six who all share secrets, of whom one tells: everybody has the same lots.
fn paired(band: usize) -> Setting {
    let alone = setting(DSGD, Rule::Sgd, band);
    let keys = generate(&Family::Complete { n: 6 }, 0, true).unwrap();
    let mixing = Mixing::new(&keys, Weights::Metropolis);
    let secrets = Secrets::new(Cancelling::new(keys, 5.0).unwrap(), 1).unwrap();
    let rows = alone.holdings.rows[1].clone();
    let hidden = alone.hidden[1].unwrap();
    // So much less noise that it is the pairs who keep the promise.
    let hidden = Hidden { multiplier: hidden.multiplier * secrets.worst().sqrt(), ..hidden };
    let small = rows.gather(&(0..60).collect::<Vec<_>>()).unwrap();
    let mut all = vec![small; 6];
    all[1] = rows;
    let holdings = Holdings { rows: all, ..alone.holdings };
    let (hidden, draws) = (vec![Some(hidden); 6], vec![alone.plan.draws(); 6]);
    let mut hidden: Vec<Option<Hidden>> = hidden;
    for hidden in hidden.iter_mut().enumerate().filter(|(agent, _)| *agent != 1).map(|(_, hidden)| hidden) {
        // Others are of no matter: few rows, sums over the same size.
        *hidden = hidden.map(|hidden| Hidden {
            lots: Lots::of_size(60, 60.0).unwrap(),
            multiplier: hidden.multiplier / 10.0,
            ..hidden
        });
    }
    Setting { holdings, mixing, hidden, draws, secrets: Some(secrets), ..alone }
}

/// Behind noise that cancels: who listens to all and was told one agent's secrets finds the mistakes, and nothing where there are none.
#[test]
fn behind_noise_that_cancels_all_are_listened_to() {
    let setting = paired(1);
    let claim = claim(&setting, 1).unwrap();
    let stand = Stand { setting, claim };
    let found = stand.attacked(None);
    assert!(found.stands, "{found}");
    // Not for want of hearing: as much is proven as where the same loss is hidden by noise of her own.
    let alone = Stand::new(DSGD, Rule::Sgd, 1).attacked(None);
    assert!(found.mu_lower > 0.9 * alone.mu_lower && alone.mu_lower > 0.4, "{found} {alone}");
    stand.finds(&[Mistake::Unclipped, Mistake::Noise(0.5), Mistake::TrueSize]);
}

/// Attacks what is claimed, which is computed once.
struct Stand {
    setting: Setting,
    claim: Claim,
}

impl Stand {
    fn new(method: Method, rule: Rule, band: usize) -> Self {
        let setting = setting(method, rule, band);
        assert_eq!(target(&setting).unwrap(), 1);
        let claim = claim(&setting, 1).unwrap();
        Self { setting, claim }
    }

    fn attacked(&self, mistake: Option<Mistake>) -> CanariesFound {
        let gradients = Gradients::new(&self.setting.net, &self.setting.holdings.rows);
        let (there, scores, draws) = scored(&self.setting, &gradients, 1, mistake, || {}).unwrap();
        judged(&self.claim, &scores, &there, (1, draws)).unwrap()
    }

    /// Every one of these mistakes is found.
    fn finds(&self, mistakes: &[Mistake]) {
        for &mistake in mistakes {
            let caught = self.attacked(Some(mistake));
            let plan = &self.setting.plan;
            assert!(!caught.stands, "{plan:?} {mistake:?}: {} {}", caught.headline, caught.mu_lower);
        }
    }
}

const DSGD: Method = Method::Dsgd { at: At::Own };
const MISTAKES: [Mistake; 4] =
    [Mistake::Unclipped, Mistake::Noise(0.5), Mistake::TrueSize, Mistake::Momentum(0.9)];

#[test]
fn claims_stand_and_mistakes_are_found() {
    let momentum = Rule::Momentum { beta: 0.9 };
    for (method, rule) in [(DSGD, Rule::Sgd), (DSGD, momentum), (Method::Dsgt, Rule::Sgd), (DSGD, Rule::ADAM)]
    {
        let mut stand = Stand::new(method, rule, 1);
        for seed in 0..5 {
            stand.setting.seed = seed;
            let honest = stand.attacked(None);
            assert!(honest.stands, "{method:?} {seed}: {}", honest.headline);
            // The attack is no toothless one: scores differ by 0.72 deviations, and 1920 bets prove a good part of it.
            assert!(honest.mu_lower > 0.25, "{method:?} {seed}: {}", honest.mu_lower);
        }
        stand.finds(&MISTAKES);
    }
}

/// Two steps by Adam between messages hide both draws: the attack is weaker. It finds what is not clipped, momentum before the noise, and a quarter of the noise; half of the
/// noise, and division by the true size of a lot of which half is in, are as loud as the claim to it, and too quiet for so few canaries.
#[test]
fn two_steps_at_once_are_heard_as_well() {
    let stand = Stand::new(Method::Dinno { primal: 2, rho: 0.5, growth: 1.0 }, Rule::ADAM, 1);
    let honest = stand.attacked(None);
    assert!(honest.stands && honest.draws == stand.setting.plan.draws(), "{}", honest.headline);
    stand.finds(&[Mistake::Unclipped, Mistake::Momentum(0.9), Mistake::Noise(0.25)]);
}

/// With correlated noise a cycle is one release: the claim stands, and mistakes do not.
#[test]
fn correlated_noise_is_attacked_too() {
    for rule in [Rule::Sgd, Rule::Momentum { beta: 0.9 }, Rule::ADAM] {
        let stand = Stand::new(DSGD, rule, 4);
        let honest = stand.attacked(None);
        assert!(honest.stands && honest.mu_lower > 0.2, "{} {}", honest.headline, honest.mu_lower);
        stand.finds(&MISTAKES);
    }
}

/// From messages alone: without noise what is heard is the sum of the lot over its mean size, to single precision.
#[test]
fn messages_give_draws_away() {
    struct Alike;
    impl Trainer for Alike {
        fn add_clipped(&self, agent: Peer, picked: &[u32], _: f64, model: &[f32], sum: &mut [f32]) {
            let own = 1.0 + agent as f32;
            sum.iter_mut().zip(model).for_each(|(sum, x)| *sum += own * picked.len() as f32 * (x + 0.5));
        }
    }
    let lots = Lots::new(40, 0.25).unwrap();
    let hidden = vec![Some(Hidden::new(lots, f64::INFINITY, 0.0)); 3];
    for (method, rule) in [(DSGD, Rule::Sgd), (DSGD, Rule::Momentum { beta: 0.9 }), (Method::Dsgt, Rule::Sgd)]
    {
        let setting = setting(method, rule, 1);
        let start = Shared::from(vec![0.3, -0.2, 0.1]);
        let setup = ConsensusSetup::new(&setting.mixing, start, setting.plan, &hidden, 3).unwrap();
        let mut bulk = BulkConsensus::new(setup, &Alike).unwrap();
        for round in 0..6 {
            let learners: Vec<_> = bulk.learners().collect();
            let heard = Heard::before(&setting.plan, &setting.mixing, (1, round), &learners);
            let before = learners[1].model().clone();
            bulk.advance(1).unwrap();
            let after = bulk.learners().nth(1).unwrap();
            // DSGT draws at its new model.
            let point = if method == Method::Dsgt { after.model().clone() } else { before };
            let mut picked = Vec::new();
            lots.draw(Seed(3), 1, round as u64, &mut picked);
            let mut sum = vec![0.0; 3];
            Alike.add_clipped(1, &picked, f64::INFINITY, &point, &mut sum);
            for (heard, sum) in heard.draw(after).iter().zip(&sum) {
                assert!(
                    (heard - f64::from(*sum) / 10.0).abs() < 1e-5,
                    "{method:?} {rule:?} {round}: {heard} {sum}"
                );
            }
        }
    }
}

#[test]
fn whoever_promises_nothing_is_not_attacked() {
    let mut setting = setting(DSGD, Rule::Sgd, 1);
    let gradients = Gradients::new(&setting.net, &setting.holdings.rows);
    assert!(canaries(&setting, &gradients, 7, None, || {}).is_err());
    setting.hidden.iter_mut().flatten().for_each(|hidden| hidden.multiplier = 0.0);
    assert!(target(&setting).unwrap_err().to_string().contains("noise-multiplier"));
}
