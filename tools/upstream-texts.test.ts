import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { readLiterals } from '../test/fixtures/read-literals.ts'
import {
  ABSENT,
  CONDITIONS,
  CONTAINER_REASONS,
  NODE_EVENTS,
  OWN_REASONS,
  POD_EVENTS,
  POD_REASONS,
  STREAM_REASONS,
} from '../test/fixtures/upstream-texts.ts'
import type { UpstreamMessage } from '../test/fixtures/upstream-texts.ts'

const root = join(import.meta.dirname, '..')
// The API of the standalone node, its controllers and its commands have reasons of their own, those of a control plane; what is simulated has those of a runtime.
const FOREIGN =
  /^src\/(?:api-server|controllers|standalone|simulation|metrics|model\/config|model\/generated|model\/schema)\//
const sources = globSync('src/**/*.ts', { cwd: root })
  .filter((path) => !path.endsWith('.test.ts') && !FOREIGN.test(path))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
const saidIn = new Map(sources.map(({ path, text }) => [path, new Set(readLiterals(text).map(normalize))]))
const literals = new Set(saidIn.values().flatMap((each) => each))
const tables = { POD_EVENTS, NODE_EVENTS, POD_REASONS, CONTAINER_REASONS, STREAM_REASONS, CONDITIONS }
const rows = Object.values(tables).flat()

/** Whether something that is inserted is quoted here or where it comes from is all the same. */
function normalize(text: string): string {
  return text.replaceAll('"%"', '%')
}

/** The files that have every part of a text as a literal of its own. */
function findFiles(text: string): readonly string[] {
  const parts = text.split('…')
  return [...saidIn].flatMap(([path, said]) => (parts.every((part) => said.has(part)) ? [path] : []))
}

/** What is wrong with a message; undefined when the files that are meant say it, whole. */
function findFault(message: UpstreamMessage): string | undefined {
  if (typeof message !== 'string') {
    const silent = message.files.filter((file) => !findFiles(message.text).includes(file))
    return silent.length === 0 ? undefined : `"${message.text}" is no whole text in ${silent.join(', ')}`
  }
  const files = findFiles(message)
  if (files.length === 0) return `"${message}" is no whole text in any source`
  return files.length === 1 ? undefined : `"${message}": expected the files that are meant, found ${files.join(', ')}`
}

test('readLiterals() reads texts and templates, and no comments', () => {
  const source = `// it's
  const a = 'it\\'s' /* "no" */
  const b = \`a \${c ? \`x\${1}\` : { d: '}' }} b\` + /['"]/.source`
  assert.deepEqual(readLiterals(source), ["it's", 'x%', '}', 'a % b'])
})

for (const [table, texts] of Object.entries(tables)) {
  describe(`what the Go kubelet says, ${table}`, () => {
    for (const { name, messages = [], absent, as = name } of texts) {
      if (absent !== undefined) {
        test(`${name} is not said: ${ABSENT[absent]}`, () => assert.equal(literals.has(as), false))
        continue
      }
      test(name, () => {
        assert.ok(literals.has(as), `no text "${as}" in the sources`)
        assert.deepEqual(
          messages.flatMap((message) => findFault(message) ?? []),
          [],
        )
      })
    }
  })
}

test('each reason that is said is one of the Go kubelet, or listed as our own with what it is for', () => {
  const REASON = /\breason(?:: | = )'([A-Z]\w+)'|new StartError\(\s*'([A-Z]\w+)'|\bREASON = '([A-Z]\w+)'/g
  const said = new Set(
    sources.flatMap(({ text }) => [...text.matchAll(REASON)].map(([, a, b, c]) => a ?? b ?? c ?? '')),
  )
  const known = new Set(rows.map(({ name }) => name))
  assert.deepEqual([...said].filter((reason) => !known.has(reason) && OWN_REASONS[reason] === undefined).sort(), [])
  assert.deepEqual(
    Object.keys(OWN_REASONS).filter((reason) => known.has(reason) || !literals.has(reason)),
    [],
    'not our own, or not said any more',
  )
})
