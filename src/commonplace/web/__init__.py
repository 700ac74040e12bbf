"""The HTTP API, and below `page` the pages for people. The API: JSON in and out below `/api/v1`, described by OpenAPI.

Every caller is an agent, except on the routes that are the person's alone (`access.Owner`): review, running jobs and
templates, reading calendars anew.

api                  `make_api`: the application with all routes
search_routes        search, the context of a prompt, and the index: topics, stats, sync
entry_routes         entries, facts and conversations; what waits for the person
note_routes          notes, their changes, and undo
oauth_routes         OAuth for remote MCP clients
profile_routes       profile notes, and proposed changes
task_routes          tasks, corrections, and what a conversation is used for
agenda_routes        commitments, calendars, and the state of projects
upkeep_routes        jobs, templates, and the digest
event_routes         live events; `live_events` has the ring that they come from
job_queue            jobs that a person asked for, in the background
schemas              field types, and the bases of request and response models
access               the caller of a request, its scopes, and the memory it may use
errors               the status and the JSON of every error
page                 what a person sees in a browser; its docstring says how to add a page
"""
