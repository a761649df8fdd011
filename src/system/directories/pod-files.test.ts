import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, readlink, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { TestContext } from 'node:test'
import { parseMountTable } from '../mounts/mount-table.ts'
import { createPodFiles } from './pod-files.ts'

async function makeRoot(t: TestContext) {
  const root = await mkdtemp(join(tmpdir(), 'deckhand-files-'))
  t.after(() => rm(root, { recursive: true }))
  return { root, files: createPodFiles({ rootDirectory: root }) }
}

const ID = 'a'.repeat(64)

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

describe('createPodFiles()', () => {
  test('writeHosts() leaves alone what is right, and a container never finds its file empty', async (t) => {
    const { root, files } = await makeRoot(t)
    const path = join(root, 'etc-hosts')
    await files.writeHosts(path, 'one\n')
    const { ino } = await stat(path)
    await utimes(path, 1, 1)
    await files.writeHosts(path, 'one\n')
    assert.equal((await stat(path)).mtimeMs, 1000)
    const lengths = new Set<number>()
    const reader = setInterval(() => lengths.add(readFileSync(path).length), 0)
    t.after(() => clearInterval(reader))
    for (let round = 0; round < 50; round += 1) {
      const text = round % 2 === 0 ? 'one and more\n' : 'two\n'
      await files.writeHosts(path, text)
      assert.equal(await readFile(path, 'utf8'), text)
    }
    clearInterval(reader)
    assert.ok(lengths.size > 0)
    assert.ok(!lengths.has(0))
    assert.equal((await stat(path)).ino, ino)
  })

  test('removePod() removes what the agent made and leaves what a volume holds', async (t) => {
    const { root, files } = await makeRoot(t)
    const pod = join(root, 'pods', 'u1')
    const logs = join(root, 'logs', 'ns_n_u1')
    await files.makeDirectories([
      join(pod, 'containers', 'web'),
      join(logs, 'web'),
      join(pod, 'volumes', 'kind', 'data'),
    ])
    await writeFile(join(pod, 'etc-hosts'), '')
    await files.makeTerminationLog(join(pod, 'containers', 'web', '0a0b0c0d'))
    await writeFile(join(logs, 'web', '0.log'), 'x')
    await writeFile(join(pod, 'volumes', 'kind', 'data', 'precious'), 'x')
    await files.removePod('u1')
    await files.removeLogDirectory(logs)
    assert.deepEqual(
      await Promise.all(
        [join(pod, 'containers'), join(pod, 'etc-hosts'), logs, join(pod, 'volumes', 'kind', 'data', 'precious')].map(
          exists,
        ),
      ),
      [false, false, false, true],
    )
    await rm(join(pod, 'volumes'), { recursive: true })
    await files.removePod('u1')
    await files.removeLogDirectory(logs)
    assert.equal(await exists(pod), false)
  })

  test('removePod() removes nothing behind a link or a mount, and says what it left', async (t) => {
    const { root, files } = await makeRoot(t)
    const elsewhere = join(root, 'elsewhere')
    const pods = join(root, 'pods')
    await files.makeDirectories([join(elsewhere, 'web'), join(pods, 'u2'), join(pods, 'u3', 'containers', 'web')])
    await writeFile(join(elsewhere, 'file'), 'precious')
    await writeFile(join(elsewhere, 'web', 'file'), 'precious')
    await writeFile(join(pods, 'u3', 'containers', 'web', 'file'), 'precious')
    await writeFile(join(pods, 'u3', 'etc-hosts'), '')
    await symlink(elsewhere, join(pods, 'u1'))
    await symlink(elsewhere, join(pods, 'u2', 'containers'))
    await symlink(elsewhere, join(root, 'logs'))
    const leftOf = async (uid: string, from = files) => (await from.removePod(uid)).left
    assert.deepEqual(await leftOf('u1'), [`${join(pods, 'u1')} (expected a directory)`])
    assert.deepEqual(await leftOf('u2'), [`${join(pods, 'u2', 'containers')} (not the agent's)`])
    assert.deepEqual((await files.removeLogDirectory(join(root, 'logs'))).left, [
      `${join(root, 'logs')} (expected a directory)`,
    ])
    for (const place of ['containers', 'containers/web', 'containers/web/file']) {
      const point = join(pods, 'u3', place)
      const table = parseMountTable(`2 1 8:1 / ${point} rw - ext4 /dev/sda1 rw`)
      const mounted = createPodFiles({ rootDirectory: root, readTable: async () => table })
      assert.deepEqual(await leftOf('u3', mounted), [`${point} (mounted)`])
      assert.equal(await exists(join(pods, 'u3', 'containers', 'web', 'file')), true)
    }
    assert.equal(await exists(join(pods, 'u3', 'etc-hosts')), false, "what is the agent's goes")
    assert.deepEqual(await leftOf('u3'), [])
    assert.deepEqual(await Promise.all([exists(join(elsewhere, 'file')), exists(join(elsewhere, 'web/file'))]), [
      true,
      true,
    ])
  })

  test('removePod() touches nothing in a directory that is mounted itself, and names few of many', async (t) => {
    const { root, files } = await makeRoot(t)
    const pod = join(root, 'pods', 'u1')
    await files.makeDirectories(Array.from({ length: 20 }, (_, index) => join(pod, `foreign-${index}`)))
    await writeFile(join(pod, 'etc-hosts'), '')
    const table = parseMountTable(`2 1 8:1 / ${pod} rw - ext4 /dev/sda1 rw`)
    const mounted = createPodFiles({ rootDirectory: root, readTable: async () => table })
    assert.deepEqual(await mounted.removePod('u1'), { directory: pod, left: [`${pod} (mounted)`] })
    assert.equal(await exists(join(pod, 'etc-hosts')), true)
    const { left } = await files.removePod('u1')
    assert.deepEqual([left.length, left.at(-1)], [11, 'and more'])
  })

  test('a note about probes is kept, set aside, and removed with its pod', async (t) => {
    const { root, files } = await makeRoot(t)
    const pod = join(root, 'pods', 'u1')
    assert.equal(await files.probeNotes.read('u1'), undefined)
    await files.probeNotes.write('u1', 'one')
    await files.probeNotes.write('u1', 'two')
    assert.equal(await files.probeNotes.read('u1'), 'two')
    await files.probeNotes.setAside('u1')
    assert.equal(await files.probeNotes.read('u1'), undefined)
    assert.equal(await readFile(join(pod, 'probes.json.corrupt'), 'utf8'), 'two')
    await files.probeNotes.write('u1', 'three')
    await files.removePod('u1')
    assert.equal(await exists(pod), false)
  })

  test('readTerminationLog() gives the end of the file, and nothing for a link or an absent file', async (t) => {
    const { root, files } = await makeRoot(t)
    const path = join(root, 'words')
    await files.makeTerminationLog(path)
    assert.equal((await stat(path)).mode & 0o777, 0o666)
    await writeFile(path, `${'x'.repeat(5000)}end`)
    const words = await files.readTerminationLog(path, 4096)
    assert.deepEqual([words.length, words.endsWith('xend')], [4096, true])
    await symlink(path, join(root, 'link'))
    assert.deepEqual(
      [
        await files.readTerminationLog(join(root, 'link'), 10),
        await files.readTerminationLog(join(root, 'absent'), 10),
      ],
      ['', ''],
    )
  })

  test('readLogTail() follows the link to the log that Docker keeps of the container, and no other', async (t) => {
    const { files, root } = await makeRoot(t)
    const folder = join(root, 'containers', ID)
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, `${ID}-json.log`), '0123456789')
    const link = join(root, '0.log')
    await symlink(join(folder, `${ID}-json.log`), link)
    assert.equal(String(await files.readLogTail(link, 5, ID)), '56789')
    assert.equal(String(await files.readLogTail(link, 5, 'b'.repeat(64))), '')
  })

  test('readLogTail() gives the end of a log as bytes, and nothing for what is no file', async (t) => {
    const { root, files } = await makeRoot(t)
    const path = join(root, '0.log')
    await writeFile(path, 'first\nläst\n')
    await symlink(path, join(root, 'link'))
    const tails = await Promise.all(
      [path, join(root, 'link'), root, join(root, 'absent')].map((each) => files.readLogTail(each, 5, ID)),
    )
    assert.deepEqual(tails.map(String), [Buffer.from('läst\n').subarray(-5).toString(), '', '', ''])
  })

  test('linkLog() replaces an old link and makes none to a log that is not there', async (t) => {
    const { root, files } = await makeRoot(t)
    const log = join(root, '0.log')
    const link = join(root, 'links', 'a.log')
    await files.linkLog(link, log)
    assert.equal(await exists(link), false)
    await writeFile(log, 'x')
    await files.linkLog(link, log)
    await files.linkLog(link, log)
    assert.deepEqual([await readlink(link), await readFile(link, 'utf8')], [log, 'x'])
  })

  test('removeLogs() takes the rotated files of one instance and not those of another', async (t) => {
    const { root, files } = await makeRoot(t)
    const directory = join(root, 'web')
    await mkdir(directory)
    const names = ['0.log', '0.log.20260101-000000', '0.log.20260101-000000.gz', '1.log']
    for (const name of names) await writeFile(join(directory, name), '')
    await files.removeLogs(join(directory, '0.log'), join(root, 'no-link'))
    assert.deepEqual(await files.listNames(directory), ['1.log'])
  })
})
