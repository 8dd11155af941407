"""eyeroof-mcp: the commands as tools of the Model Context Protocol, on stdin and stdout.

Built on the official SDK (`pip install eyeroof[mcp]`). Clients are not trusted: requests are bounded
in size, nesting, number, and running time; files are read only inside the folders that the server was
given; every tool runs in a process of its own that can be killed. SECURITY.md has the threat model.
"""
