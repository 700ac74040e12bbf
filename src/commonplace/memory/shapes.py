"""Answers as plain values, the same on every door: what `--json`, the HTTP API and MCP give."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from commonplace.facts.timeline import Moment
from commonplace.model import (
    Answer,
    Chain,
    Context,
    Fact,
    Held,
    Hit,
    Included,
    Message,
    Note,
    Remembered,
    ResolvedLink,
    Stat,
    Thread,
)


def answer_shape(answer: Answer, *, explain: bool = False) -> dict[str, Any]:
    """The answer of a search; with `explain`, also how the question was understood and what took how long."""
    values: dict[str, Any] = {
        "query": answer.query,
        "mode": answer.mode,
        "searched": answer.searched,
        "count": len(answer.hits),
        "took_ms": answer.took_ms,
        "degraded": [*answer.degraded],
        "confidence": answer.confidence,
        "results": [hit_shape(hit) for hit in answer.hits],
    }
    beside = {"empty": answer.empty, "as_of": answer.as_of, "history_begins": answer.history_begins}
    values.update({key: value for key, value in beside.items() if value is not None})
    return {**values, "understood": answer.understood, "times": answer.times} if explain else values


def hit_shape(hit: Hit) -> dict[str, Any]:
    """One hit of a search."""
    return {
        "chunk_id": hit.chunk_id,
        "document_id": hit.document_id,
        "source_type": hit.source_type,
        "source_path": hit.path,
        "title": hit.title,
        "heading_path": [*hit.heading_path],
        "line": hit.line,
        "content": hit.text,
        "score": hit.score,
        "cosine": hit.cosine,
        "sensitive": hit.sensitive,
        "updated": hit.updated,
        "metadata": dict(hit.metadata),
        "why": {part: dict(told) for part, told in hit.why.items()},
    }


def context_shape(context: Context) -> dict[str, Any]:
    """What is put before a prompt, and the reason for everything that is in it or was left out."""
    return {
        "text": context.text,
        "chars": len(context.text),
        "tokens": context.tokens,
        "budget": context.budget,
        "token_budget": context.token_budget,
        "is_over": context.is_over,
        "phase": context.phase,
        "topics": [*context.topics],
        "drifted": context.drifted,
        "style": context.style,
        "included": [_included_shape(each) for each in context.included],
        "left_out": [asdict(each) for each in context.left_out],
        "late": [*context.late],
        "degraded": [*context.degraded],
        "took_ms": context.took_ms,
    }


def _included_shape(included: Included) -> dict[str, Any]:
    piece = included.piece
    return {
        "section": piece.section,
        "key": piece.key,
        "source": piece.source,
        "title": piece.title,
        "kind": piece.kind,
        "score": piece.score,
        "why": piece.why,
        "doubt": piece.doubt,
        "chars": included.chars,
        "is_cut": included.is_cut,
    }


def fact_shape(fact: Fact) -> dict[str, Any]:
    """Every field of a fact; where it comes from stands under `source`."""
    fields = asdict(fact)
    fields["source"] = fields.pop("origins")
    fields["bonds"] = [{"bond": bond, "target": target} for bond, target in fact.bonds]
    return fields


def held_shape(held: Held) -> dict[str, Any]:
    """The fact's own fields, and how it stands at the moment that was asked for."""
    return {
        **fact_shape(held.fact),
        "state": held.state,
        "until": held.until,
        "ended_by": held.ended_by,
        "importance_now": held.importance,
        "uses": held.uses,
        "last_used": held.last_used,
    }


def remembered_shape(remembered: Remembered) -> dict[str, Any]:
    """What came of a change, with the id of the fact beside the fact itself."""
    return {
        "action": remembered.action,
        "id": remembered.fact.id,
        "fact": fact_shape(remembered.fact),
        "reason": remembered.reason,
        "old": remembered.old,
        "commit": remembered.commit,
        "staged": remembered.staged,
        "changed": remembered.changed,
        "difference": remembered.difference,
    }


def chain_shape(chain: Chain) -> dict[str, Any]:
    """A fact, its versions oldest first, and its bonds."""
    return {
        "fact": fact_shape(chain.fact),
        "versions": [held_shape(each) for each in chain.versions],
        "edges": [edge._asdict() for edge in chain.edges],
    }


def moment_shape(moment: Moment) -> dict[str, Any]:
    """One thing that happened, and the fact to which it did."""
    return {"at": moment.at, "what": moment.what, "other": moment.other, "fact": fact_shape(moment.fact)}


def stat_shape(stat: Stat) -> dict[str, Any]:
    """A note in a list."""
    return {"path": stat.path, "mtime": stat.mtime, "size": stat.size}


def link_shape(each: ResolvedLink) -> dict[str, Any]:
    """The link's parts, and the path it leads to."""
    link = each.link
    return {
        "source": each.source,
        "line": link.line,
        "target": link.target,
        "heading": link.heading,
        "block": link.block,
        "alias": link.alias,
        "form": link.form,
        "where": link.where,
        "path": each.path,
        "by": each.by,
        "also": [*each.also],
    }


def thread_shape(thread: Thread) -> dict[str, Any]:
    """What is known of a conversation beside its messages."""
    return {
        "id": thread.id,
        "interface": thread.interface,
        "source_id": thread.source_id,
        "title": thread.title,
        "trust": thread.trust,
        "started": time_text(thread.started),
        "updated": time_text(thread.updated),
        "recorded": time_text(thread.recorded),
        "closed": time_text(thread.closed),
        "turns": thread.count,
    }


def message_shape(turn: int, message: Message) -> dict[str, Any]:
    """One turn of a conversation."""
    return {
        "turn": turn,
        "role": message.role,
        "author": message.author,
        "at": time_text(message.at),
        "id": message.source_id,
        "text": message.text,
    }


def time_text(at: datetime | None) -> str:
    """A moment as text in UTC; empty for none."""
    return at.strftime("%Y-%m-%dT%H:%M:%SZ") if at else ""


def note_shape(note: Note, *, sensitive: bool) -> dict[str, Any]:
    """A note, taken apart."""
    return {
        "path": note.path,
        "title": note.title,
        "frontmatter": note.frontmatter,
        "content": note.body,
        "mtime": note.mtime,
        "size": note.size,
        "version": note.version,
        "sensitive": sensitive,
        "aliases": [*note.aliases],
        "tags": [*note.tags],
        "headings": [asdict(each) for each in note.headings],
        "links": sorted({link.target for link in note.links if link.target}),
        "observations": [asdict(each) for each in note.observations],
        "relations": [asdict(each) for each in note.relations],
        "problems": [asdict(each) for each in note.problems],
    }
