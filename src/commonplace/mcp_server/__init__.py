"""The MCP door: tools, resources and prompts over Memory. `server.make_server` puts it together."""
