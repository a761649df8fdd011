import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { makeTemporaryFolder } from '../../../../test/fixtures/make-temporary-folder.ts'
import { systemClock } from '../../../base/async/clock.ts'
import { findNftProblem, findRulesProgram } from './find-rules-program.ts'

const never = new AbortController().signal

/** A folder with programs that all do the same. */
function programs(names: readonly string[], script: string): string {
  const folder = makeTemporaryFolder()
  for (const name of names) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(folder, name), 0o755)
  }
  return folder
}

describe('the program that rules are written with', () => {
  test('is nft where it works, else iptables, else none', async () => {
    const both = programs(['nft', 'iptables-restore'], 'exit 0')
    assert.equal(await findRulesProgram(undefined, both), 'nft')
    assert.equal(await findRulesProgram('nft fails', both), 'iptables')
    assert.equal(await findRulesProgram('nft fails', programs(['nft'], 'exit 0')), undefined)
  })

  test('nft that is missing, or that the kernel gives nothing, is a problem', async () => {
    const problemOf = (programPath: string, userId = 0) =>
      findNftProblem({ clock: systemClock, programPath, userId }, never)
    assert.equal(await problemOf(programs([], '')), 'nft is not installed')
    assert.equal(await problemOf(programs(['nft'], 'exit 0')), undefined)
    const failing = programs(['nft'], 'echo "netlink: Error: Protocol not supported" >&2; exit 1')
    assert.equal(await problemOf(failing), 'nft fails (netlink: Error: Protocol not supported)')
    // Others than root get no answer in any case.
    assert.equal(await problemOf(failing, 1000), undefined)
  })
})
