"""Private peer-to-peer learning whose privacy numbers are exact, typed and attacked.

>>> import sottovoce
>>> ring = sottovoce.Experiment({"experiment": "averaging", "graph": {"family": {"ring": {"n": 12}}}, "noise": {"sigma": 2.0}})
>>> result = ring.account()
>>> all(guarantee.standing == "proven" for guarantee in result.guarantees)
True

Everything here is the command line's: ``sottovoce.ask("account", "rumor", peers=40, curious=4)`` is ``sottovoce account rumor --peers 40 --curious 4
--json``, with its defaults, its checks and its messages.
"""

from . import accounting, graphs, training
from ._ask import SottovoceError, ask
from ._experiment import Experiment
from ._result import Guarantee, Result
from ._sottovoce import __version__
from .peer import Peer

__all__ = [
    "Experiment",
    "Guarantee",
    "Peer",
    "Result",
    "SottovoceError",
    "__version__",
    "accounting",
    "ask",
    "graphs",
    "training",
]
