/** docs/faults.md, from the table of faults. Written again by: bin/node test/faults/faults-page.ts */
import { writeFileSync } from 'node:fs'
import { faultGroups } from './all-faults.ts'
import { INVARIANTS } from './fault-row.ts'
import type { Invariant } from './fault-row.ts'
import { testedFaults } from './tested-faults.ts'

export const FAULTS_PAGE = new URL('../../docs/faults.md', import.meta.url)

interface PageRow {
  readonly name: string
  readonly fault: string
  readonly injection: string
  readonly invariants: readonly Invariant[]
  readonly where: string
}

function toTable(rows: readonly PageRow[], last: string): string {
  const lines = rows.map(({ name, fault, injection, invariants, where }) => {
    return `| \`${name}\` | ${fault} | ${injection} | ${invariants.join(', ')} | ${where} |`
  })
  return [`| row | what breaks | how | holds | ${last} |`, '|---|---|---|---|---|', ...lines].join('\n')
}

/** The whole page. */
export function toFaultsPage(): string {
  const made = faultGroups.flatMap(({ rows }) => rows).map((row) => ({ ...row, where: row.quick ? 'yes' : 'no' }))
  const tested = testedFaults.map((row) => ({
    ...row,
    where: row.files.map((file) => `[${file}](../${file})`).join('<br>'),
  }))
  const invariants = Object.entries(INVARIANTS).map(([name, text]) => `| ${name} | ${text} |`)
  return `# Faults

What is broken on purpose, how, and what must hold meanwhile and afterwards. \`npm run test:faults\` makes all of it on a real containerd, in about half an hour, and ends with a
count. This page is made from the table in \`test/faults\`; a test compares both.

\`npm run test:faults -- --only NAME,…\` makes some of them, \`-- --minutes 1440\` lets pods come and go under random kills for a day. The first
table's quick rows are a part of \`npm test\`.

## What must hold

| name | invariant |
|---|---|
${invariants.join('\n')}

## Made by this suite

${toTable(made, 'in `npm test`')}

Between agent and runtime stands a proxy that passes on each call of gRPC and breaks those that a row names (\`test/faults/runtime-proxy.ts\`); between agent and API one that knows
the frames of HTTP/2 (\`test/faults/frame-proxy.ts\`).

## Made by tests of the usual suite

${toTable(tested, 'tests')}
`
}

if (import.meta.main) writeFileSync(FAULTS_PAGE, toFaultsPage())
