"""A person's calendars: files, addresses and CalDAV servers -> texts -> events.

- base          the seam: a reader gives the texts that are new since it was last asked
- config        one calendar as the settings name it
- files         an .ics file on this machine, a folder of them, or one behind an address, such as Google's private one
- caldav        a calendar on a CalDAV server
- https         requests with limits, to public hosts unless the person named a private one
- events        texts -> events: recurrences, exceptions, zones, attendees
- options       the settings `calendar`

Addresses and passwords are secrets: no error, log or note has them. What a calendar says is untrusted.
"""
