"""stepweave on one machine: the emulator, the deployed template, the `stepweave` command. Never shipped to Lambda."""
