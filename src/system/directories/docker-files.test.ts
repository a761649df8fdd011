import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import process from 'node:process'
import { describe, test } from 'node:test'
import { makeTemporaryFolder } from '../../../test/fixtures/make-temporary-folder.ts'
import { dockerFiles } from './docker-files.ts'

async function setUp() {
  const folder = makeTemporaryFolder()
  const logs = join(folder, 'pod/main')
  const containers = join(folder, 'docker/containers')
  const logOf = (id: string) => join(containers, id, `${id}-json.log`)
  /** Docker makes the file of the log with the start, the folder before it. */
  const create = async (id: string) => void (await mkdir(join(containers, id), { recursive: true }))
  return { folder, logs, logOf, create }
}

describe('dockerFiles', () => {
  test('writes a file in place, where containers have it mounted', async () => {
    const file = join(makeTemporaryFolder(), 'resolv.conf')
    await writeFile(file, 'nameserver 192.0.2.1\nsearch a.example b.example\n')
    const { ino } = await stat(file)
    await dockerFiles.writeInPlace(file, 'nameserver 10.0.0.53\n')
    assert.deepEqual([await readFile(file, 'utf8'), (await stat(file)).ino], ['nameserver 10.0.0.53\n', ino])
  })

  test('links a log that is not there yet, and leaves a good link as it is', async () => {
    const { logs, logOf, create } = await setUp()
    await create('1')
    await dockerFiles.linkLog(join(logs, '0.log'), logOf('1'))
    await dockerFiles.linkLog(join(logs, '0.log'), logOf('1'))
    assert.deepEqual([await readdir(logs), await readlink(join(logs, '0.log'))], [['0.log'], logOf('1')])
  })

  test('makes a link lead to the log of the container that has its name now', async () => {
    const { logs, logOf, create } = await setUp()
    await create('2')
    await dockerFiles.linkLog(join(logs, '0.log'), logOf('1'))
    await dockerFiles.linkLog(join(logs, '0.log'), logOf('2'))
    assert.equal(await readlink(join(logs, '0.log')), logOf('2'))
  })

  test('takes a link back, but not one that leads to another log by now', async () => {
    const { logs, logOf } = await setUp()
    await dockerFiles.unlinkLog(join(logs, '0.log'), logOf('1'))
    await dockerFiles.linkLog(join(logs, '0.log'), logOf('2'))
    await dockerFiles.unlinkLog(join(logs, '0.log'), logOf('1'))
    assert.deepEqual(await readdir(logs), ['0.log'])
    await dockerFiles.unlinkLog(join(logs, '0.log'), logOf('2'))
    assert.deepEqual(await readdir(logs), [])
  })

  test('removes earlier links whose container is gone, and nothing else', async () => {
    const { folder, logs, logOf, create } = await setUp()
    await mkdir(logs, { recursive: true })
    await symlink(logOf('gone'), join(logs, '0.log'))
    await create('kept')
    await symlink(logOf('kept'), join(logs, '1.log'))
    await symlink(join(folder, 'nowhere/gone/gone-json.log'), join(logs, 'made-by-a-pod'))
    await writeFile(join(logs, '2.log'), 'of another runtime')
    await create('new')
    await dockerFiles.linkLog(join(logs, '3.log'), logOf('new'))
    assert.deepEqual((await readdir(logs)).toSorted(), ['1.log', '2.log', '3.log', 'made-by-a-pod'])
  })

  test('lists the processes that have a container in their cgroup', async () => {
    const own = (await readFile('/proc/self/cgroup', 'utf8')).split('\n')[0] ?? ''
    const name = (await readFile('/proc/self/comm', 'utf8')).trimEnd()
    const found = await dockerFiles.listProcesses(own)
    assert.deepEqual(
      found.find(({ pid }) => pid === process.pid),
      { pid: process.pid, name },
    )
    assert.deepEqual(await dockerFiles.listProcesses('f'.repeat(64)), [])
  })
})
