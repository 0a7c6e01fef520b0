"""Muon in single precision: momentum whose update is made orthogonal, for matrices inside a network.

torch.optim.Muon computes the orthogonal part in bfloat16, which takes half a second a step on a processor without bfloat16
instructions, twenty times as long as here. Matrices of one shape are stacked, so that a step is a few large products.
"""

from collections import defaultdict
from collections.abc import Iterable

import torch
from torch import Tensor
from torch.nn import Parameter

NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
"""Coefficients of the quintic iteration that drives singular values to near 1 in few steps."""


def orthogonal(matrices: Tensor, steps: int) -> Tensor:
    """(N, R, C) matrices with R <= C -> nearly semi-orthogonal ones with the same singular vectors."""
    a, b, c = NEWTON_SCHULZ
    x = matrices / matrices.norm(dim=(-2, -1), keepdim=True).clamp(min=1e-7)
    for _ in range(steps):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x


class Muon(torch.optim.Optimizer):
    """Muon with Nesterov momentum and without weight decay.

    The step of a matrix with R rows and C columns is scaled by sqrt(max(1, R / C)).
    """

    def __init__(self, params: Iterable[Parameter], *, lr: float, momentum: float = 0.95, steps: int = 5) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "steps": steps})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        """One update of every matrix that has a gradient."""
        for group in self.param_groups:
            stacks: dict[tuple[int, ...], list[Parameter]] = defaultdict(list)
            for parameter in group["params"]:
                if parameter.grad is not None:
                    stacks[tuple(parameter.shape)].append(parameter)
            for (rows, columns), parameters in stacks.items():
                directions = torch.stack([self._direction(parameter, group["momentum"]) for parameter in parameters])
                wide = directions.mT if rows > columns else directions
                updates = orthogonal(wide, group["steps"])
                updates = updates.mT if rows > columns else updates
                scale = group["lr"] * max(1.0, rows / columns) ** 0.5
                for parameter, update in zip(parameters, updates, strict=True):
                    parameter.add_(update, alpha=-scale)

    def _direction(self, parameter: Parameter, momentum: float) -> Tensor:
        """The gradient looked at one momentum step ahead."""
        state = self.state[parameter]
        if not state:
            state["momentum"] = torch.zeros_like(parameter)
        average = state["momentum"].lerp_(parameter.grad, 1 - momentum)
        return parameter.grad.lerp(average, momentum)
