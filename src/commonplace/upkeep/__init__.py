"""What runs on a schedule: jobs that plan steps and do them, and the runner that lets one process do each at a time.

    job        the contract of a job: `Job`, `Plan`, `JobRun`; how to write one
    options    the settings block `upkeep`, with a block for each job
    schedule   cron expressions in the person's zone, and intervals
    registry   every job; a new one is one line there
    runner     due jobs -> lease -> plan -> steps -> log; retries, parking, notices

Every other module is one job, or what two jobs share. A job changes nothing but through flows, as the actor `job`.
"""
