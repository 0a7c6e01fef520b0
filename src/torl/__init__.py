"""ToRL (arXiv 2503.23383) as a workflow: from raw problem sets to a report with verdicts.

The package holds the logic; ``workflow/`` says in which order it runs. ``problems``, ``lim``, ``grading``, ``sandbox`` and
``rollout`` know nothing of the trainer; ``training`` and ``evaluation`` use them; nothing imports ``training``.
"""

__version__ = "0.1.0"
