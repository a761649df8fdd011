import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, test } from 'node:test'
import { makeMemoryFolder } from './memory-folder.ts'

describe('makeMemoryFolder', () => {
  test('makes a folder in memory that goes away, and takes those of runs that were killed along, but none of another pid namespace', (t) => {
    const { pid } = spawnSync('true')
    const [left, used] = [`/dev/shm/deckhand-${pid}`, `/dev/shm/deckhand-${process.ppid}`]
    mkdirSync(left)
    writeFileSync(join(left, '.pid-namespace'), readlinkSync('/proc/self/ns/pid'))
    const foreign = `/dev/shm/deckhand-${spawnSync('true').pid}`
    mkdirSync(foreign)
    writeFileSync(join(foreign, '.pid-namespace'), 'pid:[1]')
    t.after(() => rmSync(foreign, { recursive: true }))
    // That of the run itself, where this test is part of one.
    const isRun = existsSync(used)
    if (!isRun) mkdirSync(used)
    t.after(() => isRun || rmSync(used, { recursive: true }))
    const folder = makeMemoryFolder('/dev/shm', 0)
    assert.ok(folder)
    writeFileSync(join(folder.path, 'file'), '')
    folder[Symbol.dispose]()
    assert.deepEqual([folder.path, left, used, foreign].map(existsSync), [false, false, true, true])
  })

  test('makes none where there is no room, or no memory', () => {
    assert.equal(makeMemoryFolder('/dev/shm', Infinity), undefined)
    assert.equal(makeMemoryFolder('/proc', 0), undefined)
    assert.equal(makeMemoryFolder('/no/such/place', 0), undefined)
  })
})
