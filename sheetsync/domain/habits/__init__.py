"""How raters work: facts with their n."""
