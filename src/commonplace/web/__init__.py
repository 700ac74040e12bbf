"""The HTTP API: JSON in and out below `/api/v1`, described by OpenAPI.

Every caller is an agent, except on the routes of `review_router`, which are the person's alone.

api                  `make_api`: the application with all routes
search_routes        search, the context of a prompt, and the index: topics, stats, sync
entry_routes         entries, facts and conversations; what waits for the person
note_routes          notes, their changes, and undo
schemas              field types, and the bases of request and response models
access               the caller of a request, its scopes, and the memory it may use
errors               the status and the JSON of every error
"""
