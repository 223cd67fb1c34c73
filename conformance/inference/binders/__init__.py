"""What binds a component: one module a kind, by the name that a chapter's ``Appearance`` gives it."""
