"""The daemon's HTTP server, from the connection to the route.

http_server   limited connections, and one application behind both sockets: MCP, the API, our own routes
guard         checks every request: form, host, origin, token, rate, scope, body
messages      request heads, error responses, security and CORS headers
hook_routes   the routes for hooks: context for a prompt, transcripts to capture
hook_events   the last events of each host, how often recall was late, and what hooks skipped
"""
