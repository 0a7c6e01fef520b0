"""Code that runs inside the fence, in the sandbox's own processes: standard library only, nothing of torl outside this
folder, no third-party package. Snippets can read it and cannot change it.
"""
