"""Muon in single precision does what torch's own does in half precision."""

import pytest
import torch
from torch.nn import Parameter

from torl.scale_model.muon import Muon, orthogonal

SHAPES = [(16, 16), (48, 16), (16, 48), (16, 16)]


def parameters() -> list[Parameter]:
    generator = torch.Generator().manual_seed(1)
    made = [Parameter(torch.randn(*shape, generator=generator)) for shape in SHAPES]
    for parameter in made:
        parameter.grad = torch.randn(*parameter.shape, generator=generator)
    return made


def test_singular_values_are_driven_to_near_one():
    matrices = torch.randn(3, 16, 48, generator=torch.Generator().manual_seed(2))
    values = torch.linalg.svdvals(orthogonal(matrices, steps=5))
    assert values.min() > 0.6
    assert values.max() < 1.3


def test_singular_vectors_stay():
    matrix = torch.randn(1, 8, 8, generator=torch.Generator().manual_seed(3))
    left, _, right = torch.linalg.svd(matrix)
    turned = left.mT @ orthogonal(matrix, steps=5) @ right.mT
    assert torch.allclose(turned, torch.diag_embed(turned.diagonal(dim1=-2, dim2=-1)), atol=1e-4)


def test_steps_are_those_of_torchs_muon():
    ours, theirs = parameters(), parameters()
    mine = Muon(ours, lr=0.02)
    other = torch.optim.Muon(theirs, lr=0.02, weight_decay=0.0)
    for _ in range(3):
        mine.step()
        other.step()
    for parameter, reference, start in zip(ours, theirs, parameters(), strict=True):
        assert (parameter - reference).norm() < 0.05 * (reference - start).norm()


def test_a_matrix_moves_the_same_alone_and_among_others_of_its_shape():
    together, alone = parameters(), parameters()
    Muon(together, lr=0.02).step()
    Muon(alone[:1], lr=0.02).step()
    assert torch.allclose(together[0], alone[0], atol=1e-6)


def test_a_parameter_without_a_gradient_stays():
    made = parameters()
    made[1].grad = None
    before = made[1].detach().clone()
    Muon(made, lr=0.02).step()
    assert torch.equal(made[1], before)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_the_size_of_the_gradient_does_not_matter(scale):
    made = parameters()
    reference = parameters()
    for parameter in made:
        parameter.grad *= scale
    Muon(made, lr=0.02).step()
    Muon(reference, lr=0.02).step()
    for one, other in zip(made, reference, strict=True):
        assert torch.allclose(one, other, atol=1e-5)
