import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { nameProcess, raiseOpenFiles } from './own-process.ts'

test('nameProcess() names the process and keeps its arguments', async () => {
  const before = await readFile('/proc/self/cmdline', 'utf8')
  nameProcess('kubelet')
  assert.equal(await readFile('/proc/self/comm', 'utf8'), 'kubelet\n')
  assert.equal(await readFile('/proc/self/cmdline', 'utf8'), before)
})

test('raiseOpenFiles() is content with what is there', async () => {
  const { limit, problem } = await raiseOpenFiles(1)
  assert.deepEqual([problem, limit >= 1], [undefined, true])
})

test('on a machine without the programs for it, limits stay', async (t) => {
  const path = process.env['PATH']
  t.after(() => void (process.env['PATH'] = path))
  process.env['PATH'] = '/nowhere'
  assert.match((await raiseOpenFiles(2 ** 40)).problem ?? '', /raising them to 1099511627776 was refused/)
})
