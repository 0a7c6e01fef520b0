"""Answers of each kind, spelled in two ways, and near misses of the kinds that no rule of its own covers."""

import pytest

from torl.grading.equality import equal

EQUAL = r"""
$\{1,2,3\} \cup \{4\}$ | $\{1,2,3,4\}$
$\{1,2,3\} \cap \{2,3,5\}$ | $\{2,3\}$
$[0,2] \cap [1,3]$ | $[1,2]$
$\{1,2,3\} \setminus \{2\}$ | $\{1,3\}$
$\mathbb{R} \setminus \{0\}$ | $(-\infty,0)\cup(0,\infty)$
$\emptyset$ | $\{\}$
$x \in \{1,2\}$ | $\{1,2\}$
$x \in \mathbb{R}$ | $(-\infty,\infty)$
$\text{9}$ | 9
$\boxed{\text{9}}$ | 9.0
$9 \text{ apples}$ | 9
$x \neq 3$ | $\mathbb{R} \setminus \{3\}$
$1 < x < 3$ | $x \in (1,3)$
$x<1$ and $x>-1$ | $(-1,1)$
$x > -1$ and $x < 1$ | $-1<x<1$
$-1 \le x$ and $x \le 1$ | [-1,1]
$3 > x$ | $x < 3$
$x = 1$ or $x = 2$ | $\{1,2\}$
$x=1,2$ | $x=1$ or $x=2$
$a=3, b=4$ | $b=4, a=3$
$(x,y)=(1,2)$ | $x=1, y=2$
$x=1,y=2$ | (1,2)
$\log_2 8$ | 3
$\ln e^2$ | 2
$\sin 30^\circ$ | 0.5
$\cos \frac{\pi}{3}$ | $\frac12$
$5!$ | 120
$\binom{5}{2}$ | 10
$\sqrt[3]{8}$ | 2
$2^{10}$ | 1024
$1.5 \times 10^3$ | 1500
$1.5e3$ | 1500
$3 \times 10^{-4}$ | 0.0003
$i^2$ | -1
$(1+i)^2$ | $2i$
$\frac{1}{i}$ | $-i$
$|{-3}|$ | 3
$\lfloor 3.7 \rfloor$ | 3
$0.\overline{3}$ | 1/3
$0.3\overline{6}$ | $\frac{11}{30}$
$\int_0^1 x dx$ | $\frac12$
$\lim_{x\to 0} \frac{\sin x}{x}$ | 1
$\begin{pmatrix}1\\2\end{pmatrix}$ | $\begin{bmatrix}1\\2\end{bmatrix}$
$\begin{pmatrix}1 & 2\\3 & 4\end{pmatrix}$ | $\left[\begin{array}{cc}1&2\\3&4\end{array}\right]$
$2\begin{pmatrix}1\\2\end{pmatrix}$ | $\begin{pmatrix}2\\4\end{pmatrix}$
$\frac{1}{2}\begin{pmatrix}2 & 0\\0 & 2\end{pmatrix}$ | $\begin{pmatrix}1&0\\0&1\end{pmatrix}$
$x^2+2x+1=0$ | $(x+1)^2=0$
$y=2x+3$ | $2x+3$
$2x-y+3=0$ | $y=2x+3$
$y = x^2$ | $x^2 = y$
$10 \text{ cm}$ | $0.1 \text{ m}$
$\$5.00$ | 5
5 dollars | $\$5$
$12,345.67$ | 12345.67
$1{,}000{,}000$ | 1000000
$90^\circ$ | 90 degrees
$\angle ABC = 90^\circ$ | 90
$\frac{3}{4}\pi$ | $0.75\pi$
$50\%$ | $\frac{1}{2}$
$(-\infty, 2) \cup (2, \infty)$ | $x \ne 2$
$\pm 2$ | $2, -2$
$x = \pm 2$ | $x = 2 \text{ or } x = -2$
$\{x \in \mathbb{R} \mid x > 0\}$ | $(0, \infty)$
$e^{i\pi}$ | -1
$\sec^2 x - \tan^2 x$ | 1
$\sin(2x)$ | $2\sin x\cos x$
$\frac{x^2-1}{x-1}$ | $x+1$
$a^{-1}$ | $\frac1a$
$\sqrt{8}$ | $2\sqrt2$
$n(n+1)/2$ | $\frac{n^2+n}{2}$
$\frac{n!}{(n-2)!}$ | $n(n-1)$
$2^{n+1}$ | $2\cdot 2^n$
$(-1)^{n+1}$ | $-(-1)^n$
$\log_{10} 100$ | 2
$\lg 100$ | 2
$\arctan 1$ | $\frac{\pi}{4}$
$\tan^{-1} 1$ | $\frac{\pi}{4}$
$f'(x) = 2x$ | $2x$
$\overrightarrow{AB} = (1,2)$ | $(1,2)$
$\mathbf{i} + 2\mathbf{j}$ | $i+2j$
$\langle 1,2,3 \rangle$ | $(1,2,3)$
$S = \{1,2\}$ | $\{1,2\}$
$p \lor q$ | $p \lor q$
$2 \text{ or } 3$ | $\{2,3\}$
$\text{Yes}$ | Yes
$\text{(A)}$ | A
A | (A)
$\text{A}$ | \text{(A)}
$\text{east}$ | East
$3\frac{1}{2}$ hours | 3.5
$\frac{-1}{2}$ | $-\frac{1}{2}$
$-\frac{1}{-2}$ | 0.5
$x^{\frac{1}{2}}$ | $\sqrt{x}$
$\frac{1}{\sqrt{2}}$ | $\frac{\sqrt{2}}{2}$
$(x-1)(x-2)$ | $x^2-3x+2$
$y^2 = 4x$ | $y^2=4x$
$\frac{x^2}{4}+\frac{y^2}{3}=1$ | $3x^2+4y^2=12$
$x = 2k\pi + \frac{\pi}{2} (k \in \mathbb{Z})$ | $\frac{\pi}{2}+2k\pi$
$[2k\pi, 2k\pi+\pi] (k\in Z)$ | $[2k\pi, (2k+1)\pi], k\in\mathbb{Z}$
$\{2,4,6,...\}$ | $\{2,4,6,\ldots\}$
1 1/2 | 3/2
2/3 cup | 2/3
$\dfrac{a}{b+c}$ | a/(b+c)
x=3y+2 | 3y+2
10^{2}cm | 100
$\sqrt{3} + 2i$ | $2i+\sqrt{3}$
$0.5$ | .5
$+3$ | 3
$x\in(-\infty,-1)\cup(1,+\infty)$ | $x<-1$ or $x>1$
$\text{None}$ | none
$\{(1,2),(3,4)\}$ | $(1,2),(3,4)$
\( \frac{7}{8} \) | 7/8
5\ m/s | 5 m/s
2.08 | $\frac{52}{25} = 2.08$
1000 | $1000 (\text{meters})$
35 | $35 \text{ min}$
35 min | 35 minutes
5.4 | $5.4 \, \text{J}$
1 kg | $1 \text{ kg of cereal}$
63 | $63_{10}$
$-\frac{\pi}{6}$ | $\max \left( x - y \right) = -\frac{\pi}{6}$
$\min(1, a)$ | $\min(a, 1)$
$5\,\mathrm{m\,s^{-1}}$ | 5
$9.8 \mathrm{~m/s}^2$ | 9.8
"""
UNEQUAL = r"""
$\{1,2,3\} \cap \{2,3,5\}$ | $\{1,2,3,5\}$
$[0,2] \cap [1,3]$ | $[0,3]$
$[0,2] \cap [1,3)$ | $(1,2]$
$\{1,2,3\} \setminus \{2\}$ | $\{1,2,3\}$
$\mathbb{R} \setminus \{0\}$ | $\mathbb{R}$
$x<1$ and $x>-1$ | $x<1$ or $x>-1$
$x<1$ and $y>-1$ | $(-1,1)$
$2\begin{pmatrix}1\\2\end{pmatrix}$ | $\begin{pmatrix}1\\2\end{pmatrix}$
$\frac{1}{2}\begin{pmatrix}2 & 0\\0 & 2\end{pmatrix}$ | $\begin{pmatrix}1&0\\0&2\end{pmatrix}$
$\begin{pmatrix}1 & 2\\3 & 4\end{pmatrix}$ | $\begin{pmatrix}1 & 2 & 3 & 4\end{pmatrix}$
$\text{9}$ | 8
$0.\overline{3}$ | 0.3
$3\frac{1}{2}$ | $\frac{3}{2}$
$2^{10}$ | 1023
$\log_2 8$ | $\log_3 8$
$\log 2$ | $\log_{10} 3$
$\sin 30^\circ$ | $\sin 30$
$i^2$ | 1
$e$ | 2.7
$|{-3}|$ | -3
$\lfloor 3.7 \rfloor$ | 4
$\sqrt{x^2}$ | $x$
$\pm 2$ | $-2$
$\mathbf{i} + 2\mathbf{j}$ | $2i+j$
$x \in \{1,2\}$ | $[1,2]$
$S = \{1,2\}$ | $\{1,2,3\}$
$\{(1,2),(3,4)\}$ | $(1,2,3,4)$
$[2k\pi, 2k\pi+\pi] (k\in Z)$ | $(2k\pi, 2k\pi+\pi) (k\in Z)$
$\frac{x^2}{4}+\frac{y^2}{3}=1$ | $4x^2+3y^2=12$
$\frac{n!}{(n-2)!}$ | $n^2$
$2^{n+1}$ | $2^n+1$
$a_1$ | $a_2$
$10 \text{ cm}$ | $10 \text{ m}$
$\text{east}$ | West
$\text{Yes}$ | No
A | \text{(B)}
1:2 | 1:3
5 | $5i$
$-5$ | 5
$1,234$ | 1
$(0,\infty)$ | $[0,\infty)$
\boxed{3} and \boxed{4} | 4
$1.5 \times 10^3$ | $1.5 \times 10^4$
35 min | 35 hours
$5 \, \text{J}$ | $5 \, \text{W}$
$\text{A}$ | $\text{J}$
$2 = 1 + 1$ | $3 - 1 = 2$
$63_{8}$ | 63
"""


def pairs(text: str) -> list[tuple[str, ...]]:
    return [tuple(side.strip() for side in line.split(" | ")) for line in text.strip().splitlines()]


@pytest.mark.parametrize(("gold", "answer"), pairs(EQUAL))
def test_two_spellings_of_one_answer_are_equal_whichever_is_the_gold(gold: str, answer: str) -> None:
    assert equal(gold, answer).correct
    assert equal(answer, gold).correct


@pytest.mark.parametrize(("gold", "answer"), pairs(UNEQUAL))
def test_two_answers_that_look_alike_are_not(gold: str, answer: str) -> None:
    assert not equal(gold, answer).correct
    assert not equal(answer, gold).correct
