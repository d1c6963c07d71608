"""Private peer-to-peer learning whose privacy numbers are exact, typed and attacked.

>>> import sottovoce
>>> ring = sottovoce.Experiment({"experiment": "averaging", "graph": {"family": {"ring": {"n": 12}}}, "noise": {"sigma": 2.0}})
>>> result = ring.account()
>>> result.guarantees[0].adversary, result.guarantees[0].standing
('wire-tapper', 'proven')

Everything here is the command line's: ``sottovoce.ask("account", "rumor", peers=40, curious=4)`` is ``sottovoce account rumor --peers 40 --curious 4
--json``, with its defaults, its checks and its messages.
"""

from . import account, accounting, graphs, plots, training
from ._ask import ask
from ._errors import SottovoceError
from ._experiment import WIRE_TAPPER, Experiment
from ._result import Guarantee, Result
from ._sottovoce import __version__
from ._values import Rows
from .peer import Peer

__all__ = [
    "WIRE_TAPPER",
    "Experiment",
    "Guarantee",
    "Peer",
    "Result",
    "Rows",
    "SottovoceError",
    "__version__",
    "account",
    "accounting",
    "ask",
    "graphs",
    "plots",
    "training",
]
