import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseNodeLogQuery } from './parse-node-log-query.ts'
import { toJournalArguments } from './logs-routes.ts'

const parse = (query: string) => parseNodeLogQuery(new URLSearchParams(query))

test('parseNodeLogQuery() knows a question from none, and refuses what cannot be', () => {
  const rows: readonly (readonly [string, string | number])[] = [
    ['', 'none'],
    ['other=1', 'none'],
    ['query=kubelet', 'services'],
    ['query=a&query=b&query=c&query=d', 'services'],
    ['query=/syslog', 'file'],
    ['query=a/b.log', 'file'],
    ['query=kubelet&tailLines=10&boot=-1&pattern=(?i)err.*&sinceTime=2026-01-01T00:00:00Z', 'services'],
    ['tailLines=10', 406],
    ['query=', 406],
    ['query=%20', 406],
    ['query=a&query=b&query=c&query=d&query=e', 406],
    ['query=a%3Bb', 406],
    [`query=${'a'.repeat(257)}`, 406],
    ['query=--help%20', 406],
    ['query=a/b&query=c/d', 406],
    ['query=a/b&query=c', 406],
    ['query=a/b&tailLines=1', 406],
    ['query=a&tailLines=-1', 406],
    ['query=a&tailLines=100001', 406],
    ['query=a&boot=1', 406],
    ['query=a&pattern=(', 406],
    ['query=a&sinceTime=2026-01-02T00:00:00Z&untilTime=2026-01-01T00:00:00Z', 406],
    ['query=a&tailLines=x', 400],
    ['query=a&tailLines=1&tailLines=2', 400],
    ['query=a&boot=1.5', 400],
    ['query=a&sinceTime=yesterday', 400],
  ]
  for (const [query, expected] of rows) {
    const parsed = parse(query)
    assert.equal(parsed.kind === 'refused' ? parsed.status : parsed.kind, expected, query)
  }
})

test('toJournalArguments() asks for just these lines', () => {
  const query = parse(
    'query=a&query=b@1&sinceTime=2026-01-02T03:04:05Z&untilTime=2026-11-12T13:14:15%2B01:00&tailLines=5&pattern=-x&boot=0',
  )
  assert.ok(query.kind === 'services')
  assert.deepEqual(toJournalArguments(query.services, query.options), [
    '--utc',
    '--no-pager',
    '--output=short-precise',
    '--since=2026-1-2 3:4:5',
    '--until=2026-11-12 12:14:15',
    '--pager-end',
    '--lines=5',
    '--unit=a',
    '--unit=b@1',
    '--grep=-x',
    '--boot',
    '0',
  ])
})
