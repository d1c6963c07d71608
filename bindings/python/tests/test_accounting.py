"""Accountants by other names; their own numbers beside ours."""

import pytest

from sottovoce.accounting import Accountant, events, mechanism


def test_steps_add_up():
    accountant = Accountant()
    for _ in range(100):
        accountant.step(noise_multiplier=1.1, sample_rate=0.01)
    assert len(accountant) == 100 and len(accountant.history) == 1
    known = mechanism(gaussian=True, noise_multiplier=1.1, sampling_rate=0.01, steps=100).guarantees[0].epsilon
    assert accountant.get_epsilon(delta=1e-5) == known
    assert accountant.get_delta(epsilon=known) <= 1e-5 * (1 + 1e-9)
    more = accountant.compose({"laplace": {"scale": 2.0}}).get_epsilon(1e-5)
    assert more > known
    assert events(accountant.history).guarantees[0].epsilon == more


def test_it_is_between_what_others_say():
    dp = pytest.importorskip("dp_accounting")
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    event = dp.SelfComposedDpEvent(dp.PoissonSampledDpEvent(0.01, dp.GaussianDpEvent(1.1)), 1000)
    accountant = Accountant().compose({"gaussian": {"noise_multiplier": 1.1}, "sampling_rate": 0.01}, 1000)
    ours = accountant.get_epsilon(1e-5)
    pld = PLDAccountant().compose(event).get_epsilon(1e-5)
    rdp = RdpAccountant().compose(event).get_epsilon(1e-5)
    assert ours <= pld <= rdp and pld - ours < 1e-3, (ours, pld, rdp)
