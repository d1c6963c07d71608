//! Agreement with numbers computed elsewhere (quantiles of the beta law from scipy 1.17.1 for the limits; the formula
//! published with the one-run audit, solved by bisection, for the rest), and the direction of every rounding.

use sottovoce_audit::{Attack, OneRun, Rule};

/// Misses, members, false alarms, strangers, delta; then the two limits, epsilon, mu, and mu's epsilon at 1e-5.
type RateRow = ((u64, u64, u64, u64), f64, [f64; 5]);

const RATES: [RateRow; 10] = [
    (
        (10, 100, 5, 100),
        0.0,
        [
            0.176_222_597_740_022_66,
            0.112_834_911_105_462_75,
            1.987_974_563_730_057_2,
            2.141_445_676_657_468_8,
            10.878_675_131_265_62,
        ],
    ),
    (
        (10, 100, 5, 100),
        1e-05,
        [
            0.176_222_597_740_022_66,
            0.112_834_911_105_462_75,
            1.987_962_424_454_727_6,
            2.141_445_676_657_468_8,
            10.878_675_131_265_62,
        ],
    ),
    (
        (0, 1000, 0, 1000),
        0.0,
        [
            0.003_682_083_896_865_671,
            0.003_682_083_896_865_671,
            5.600_587_531_298_923,
            5.359_822_537_549_037,
            36.489_487_893_017_7,
        ],
    ),
    (
        (0, 1000, 0, 1000),
        1e-05,
        [
            0.003_682_083_896_865_671,
            0.003_682_083_896_865_671,
            5.600_577_494_291_635_5,
            5.359_822_537_549_037,
            36.489_487_893_017_7,
        ],
    ),
    (
        (200, 1000, 10, 1000),
        0.0,
        [
            0.226_159_372_821_370_55,
            0.018_313_243_055_112_45,
            3.743_741_482_007_330_5,
            2.841_458_257_768_379_3,
            15.547_703_339_756_792,
        ],
    ),
    (
        (200, 1000, 10, 1000),
        1e-05,
        [
            0.226_159_372_821_370_55,
            0.018_313_243_055_112_45,
            3.743_728_559_366_334,
            2.841_458_257_768_379_3,
            15.547_703_339_756_792,
        ],
    ),
    (
        (500, 1000, 0, 1000),
        0.0,
        [
            0.531_450_827_028_208,
            0.003_682_083_896_865_671,
            4.846_162_186_259_231,
            2.600_993_897_359_573_6,
            13.886_564_806_015_604,
        ],
    ),
    (
        (500, 1000, 0, 1000),
        1e-05,
        [
            0.531_450_827_028_208,
            0.003_682_083_896_865_671,
            4.846_140_843_554_365,
            2.600_993_897_359_573_6,
            13.886_564_806_015_604,
        ],
    ),
    (
        (4000, 10000, 30, 10000),
        0.0,
        [
            0.409_679_811_109_875_7,
            0.004_279_939_087_043_483_5,
            4.926_726_305_236_022,
            2.857_517_955_135_053_4,
            15.660_767_866_870_598,
        ],
    ),
    (
        (4000, 10000, 30, 10000),
        1e-05,
        [
            0.409_679_811_109_875_7,
            0.004_279_939_087_043_483_5,
            4.926_709_365_133_195,
            2.857_517_955_135_053_4,
            15.660_767_866_870_598,
        ],
    ),
];

/// Examples, guesses, correct, delta; then epsilon at 95 % and the p-value at epsilon = 1.
type OneRunRow = ((u64, u64, u64), f64, f64, f64);

const ONE_RUN: [OneRunRow; 10] = [
    ((1000, 100, 99), 0.0, 3.019_338_940_856_652_4, 9.387955802953052e-13),
    ((1000, 100, 99), 1e-05, 3.002_832_365_348_745_6, 0.000_580_912_390_761_780_8),
    ((1000, 100, 90), 0.0, 1.630_823_192_740_961_8, 2.7358128007661584e-05),
    ((1000, 100, 90), 1e-05, 1.626_143_480_695_611_4, 0.000_841_288_561_438_530_9),
    ((1000, 200, 160), 0.0, 1.086_650_519_409_908_8, 0.015_030_724_011_619_936),
    ((1000, 200, 160), 1e-05, 1.085_034_311_696_982_7, 0.015_877_417_338_020_495),
    ((5000, 100, 100), 0.0, 3.492_965_431_152_291_5, 2.4843785557240162e-14),
    ((5000, 100, 100), 1e-05, 3.352_419_736_335_097, 0.002_816_544_920_381_481),
    ((100, 50, 45), 0.0, 1.393_604_122_506_325, 0.003_098_033_733_468_321_3),
    ((100, 50, 45), 1e-05, 1.392_790_984_408_008_4, 0.003_249_361_729_548_418),
];

#[test]
fn rates_agree_and_round_the_safe_way() {
    for ((misses, members, alarms, strangers), delta, want) in RATES {
        let rates = Attack::new(misses, members, alarms, strangers).unwrap().error_rates(0.05).unwrap();
        let got = [
            rates.false_negative(),
            rates.false_positive(),
            rates.epsilon_lower(delta).unwrap(),
            rates.mu_lower(),
            rates.gaussian_epsilon_lower(1e-5).unwrap(),
        ];
        for (i, (got, want)) in got.into_iter().zip(want).enumerate() {
            let error = got / want - 1.0;
            assert!(error.abs() < 1e-12, "column {i}: {got}, reference {want}");
            // Limits may not be below, bounds not above, by more than the reference's own last digits.
            assert!(
                if i < 2 { error > -1e-13 } else { error < 1e-13 },
                "column {i}: {got}, reference {want}"
            );
        }
    }
}

#[test]
fn one_run_agrees_and_rounds_the_safe_way() {
    for ((examples, guesses, correct), delta, epsilon, p_value) in ONE_RUN {
        let audit = OneRun::new(examples, guesses, correct).unwrap();
        let got = audit.epsilon_lower(delta, 0.05, Rule::Published).unwrap();
        let p = audit.p_value(1.0, delta, Rule::Published).unwrap();
        assert!((got - epsilon).abs() < 1e-10, "{got}, reference {epsilon}");
        assert!(p / p_value - 1.0 < 1e-12 && p / p_value - 1.0 > -1e-13, "{p}, reference {p_value}");
        // The bound is rejected, and hardly more is not.
        let at = |epsilon| audit.p_value(epsilon, delta, Rule::Published).unwrap();
        assert!(at(got) <= 0.05 && at(got * (1.0 + 1e-13)) > 0.05, "{got}");
    }
}
