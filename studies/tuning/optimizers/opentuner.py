"""OpenTuner: three bandits over techniques of evolutionary and direct search."""

import logging
from typing import Any

import numpy as np

from studies.tuning.optimizers.adapter import Sandbox, decoded, dimensions, entries
from studies.tuning.space import Point, Space

ARGUMENTS = ("--no-dups", "--quiet", "--database=sqlite://", "--parallelism=1")
GENERATIONS = 100  # without a new point, after which a random one is tried


class OpenTuner:
    """One point a generation; the results stay in memory."""

    def __init__(self, technique: str, space: Space, seed: int, calls: int) -> None:
        self._space = space
        self._rng = np.random.default_rng(seed)
        self._sandbox = Sandbox(seed)
        formatter = logging.Formatter
        with self._sandbox.entered():
            import opentuner
            from opentuner import api, tuningrunmain
            from opentuner.measurement.interface import DefaultMeasurementInterface
            from opentuner.search import manipulator

            # The library replaces logging's formatter and would write a log file.
            logging.Formatter = formatter  # type: ignore[misc]
            tuningrunmain.init_logging = lambda: None
            self._result = opentuner.resultsdb.models.Result
            box = manipulator.ConfigurationManipulator()
            for dimension in dimensions(
                space,
                choice=lambda p: manipulator.EnumParameter(p.name, p.choices),
                integer=lambda p: manipulator.IntegerParameter(p.name, p.low, p.high),
                unit=lambda p: manipulator.FloatParameter(p.name, 0.0, 1.0),
            ):
                box.add_parameter(dimension)
            args = opentuner.default_argparser().parse_args(
                [f"--technique={technique}", *ARGUMENTS]
            )
            interface = DefaultMeasurementInterface(args=args, manipulator=box)
            self._manager = api.TuningRunManager(interface, args)

    def ask(self) -> Point:
        with self._sandbox.entered():
            self._desired = self._next()
            if self._desired is None:
                return self._space.sample(self._rng)
            values = self._desired.configuration.data
        return decoded(self._space, (values[name] for name in self._space.names))

    def tell(self, point: Point, loss: float) -> None:
        if self._desired is not None:
            with self._sandbox.entered():
                self._manager.report_result(self._desired, self._result(time=loss))

    def _next(self) -> Any:
        """What the techniques want; None where they only repeat themselves."""
        for _ in range(GENERATIONS):
            desired = self._manager.get_next_desired_result()
            if desired is not None:
                return desired
        return None


OPTIMIZERS = entries(
    OpenTuner,
    ("opentuner-bandit", "OpenTuner-BanditA", "opentuner",
     "a bandit over evolution and simplex (AUCBanditMetaTechniqueA)", "AUCBanditMetaTechniqueA"),
    ("opentuner-ga", "OpenTuner-GA", "opentuner",
     "a bandit over swarms and genetic search (PSO_GA_Bandit)", "PSO_GA_Bandit"),
    ("opentuner-ga-de", "OpenTuner-GA-DE", "opentuner",
     "a bandit over swarms, genetic search and differential evolution (PSO_GA_DE)", "PSO_GA_DE"),
    paper=True,
)  # fmt: skip
