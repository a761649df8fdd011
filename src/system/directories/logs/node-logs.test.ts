import assert from 'node:assert/strict'
import { link, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { makeTemporaryFolder } from '../../../../test/fixtures/make-temporary-folder.ts'
import { createNodeLogs } from './node-logs.ts'

test('createNodeLogs() serves no file that has another name outside its folder', async () => {
  const folder = makeTemporaryFolder()
  const logs = join(folder, 'log')
  await mkdir(join(logs, 'below'), { recursive: true })
  await writeFile(join(folder, 'shadow'), 'root:secret')
  await writeFile(join(logs, 'plain.log'), 'plain')
  await writeFile(join(logs, 'rotated.log'), 'rotated')
  await writeFile(join(logs, 'spread.log'), 'spread')
  await link(join(folder, 'shadow'), join(logs, 'stolen.log'))
  await link(join(logs, 'rotated.log'), join(logs, 'rotated.log.1'))
  await link(join(logs, 'spread.log'), join(logs, 'below', 'spread.log'))
  const read = (path: string) =>
    createNodeLogs(logs).open(path, async (log) => (log.kind === 'file' ? await text(log.content()) : log.kind))
  const paths = ['plain.log', 'rotated.log', 'rotated.log.1', 'stolen.log', 'spread.log', 'below/spread.log', 'below']
  assert.deepEqual(Object.fromEntries(await Promise.all(paths.map(async (path) => [path, await read(path)]))), {
    'plain.log': 'plain',
    'rotated.log': 'rotated',
    'rotated.log.1': 'rotated',
    'stolen.log': 'absent',
    'spread.log': 'absent',
    'below/spread.log': 'absent',
    below: 'directory',
  })
})
