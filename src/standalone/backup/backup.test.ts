import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { FakeClock } from '../../../test/fakes/fake-clock.ts'
import { copyClosedDatabase, inspectBackup } from '../../api-server/store/inspect-backup.ts'
import { openApiStore } from '../../api-server/store/open-api-store.ts'
import { systemClock } from '../../base/async/clock.ts'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { renameDurably } from '../../system/files/state/durable-file.ts'
import { computeNodeLayout } from '../node/node-layout.ts'
import { takeUpLock } from '../node/up-lock.ts'
import { KEY_PATHS } from './backup-contents.ts'
import { beginRestore, finishRestore } from './replace-node.ts'
import { runBackup } from './run-backup.ts'
import { runRestore } from './run-restore.ts'

const never = new AbortController().signal

let folder: string
let said: string[]

const deps = {
  clock: systemClock,
  say: (line: string) => void said.push(line),
  ownKubelet: [],
  pid: process.pid,
  programPath: process.env['PATH'] ?? '',
  userId: 0,
  copyDatabase: copyClosedDatabase,
  inspectDatabase: inspectBackup,
  openClient: () => assert.fail('there is no API'),
}

function openStore(state: string) {
  const options = { folder: `${state}/api/objects`, sealedResources: ['secrets'] }
  return openApiStore(options, { clock: new FakeClock(), log: silentLogger })
}

/** A state folder with a secret in its API, as "up" leaves it. */
async function makeState(name: string, secret: string): Promise<string> {
  const state = `${folder}/${name}`
  mkdirSync(`${state}/api/pki`, { recursive: true })
  mkdirSync(`${state}/manifests`)
  mkdirSync(`${state}/kubelet.conf.d`)
  writeFileSync(`${state}/api/pki/ca.pem`, `key of ${name}`, { mode: 0o600 })
  writeFileSync(`${state}/manifests/web.yaml`, `pod of ${name}`)
  writeFileSync(`${state}/kubelet.conf.d/a.conf`, 'settings')
  const ports = { kubernetes: 1, agent: 2, healthz: 3 }
  const record = { nodeName: name, cgroupRoot: '/x', manifests: `${state}/manifests`, ports }
  writeFileSync(`${state}/node.json`, JSON.stringify(record))
  await writeSecret(state, secret)
  return state
}

async function writeSecret(state: string, text: string): Promise<void> {
  using store = await openStore(state)
  const key = { resource: 'secrets', namespace: 'default', name: 'top' }
  await store.write((transaction) => {
    const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'top', namespace: 'default' }, text }
    return transaction.put(key, object)
  })
}

async function readSecret(state: string): Promise<unknown> {
  using store = await openStore(state)
  const [secret] = store.list({ resource: 'secrets' })
  return (secret?.object as { readonly text?: unknown } | undefined)?.text
}

describe('deckhand backup and restore', () => {
  beforeEach(() => {
    folder = mkdtempSync(`${tmpdir()}/backup-`)
    said = []
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  test('bring a node back as it was, and keep what was there in between', async () => {
    const state = await makeState('here', 'hush')
    await runBackup(deps, { state, file: `${folder}/b.tar` }, never)
    await writeSecret(state, 'other')
    writeFileSync(`${state}/manifests/new.yaml`, 'new')
    await runRestore(deps, { state, file: `${folder}/b.tar`, keys: undefined }, never)
    assert.equal(await readSecret(state), 'hush')
    assert.deepEqual(readdirSync(`${state}/manifests`), ['web.yaml'])
    const aside = readdirSync(state).find((name) => name.startsWith('before-restore-'))
    assert.ok(aside)
    assert.deepEqual(readdirSync(`${state}/${aside}/manifests`), ['new.yaml', 'web.yaml'])
    assert.match(said.join('\n'), /Restored 1 objects? of node "here" as of \d{4}-/)
    assert.deepEqual(
      readdirSync(state).filter((name) => name.endsWith('.new')),
      [],
    )
  })

  test('have no secret that can be read in the file, and the keys in another', async () => {
    const state = await makeState('here', 'a very secret text')
    await runBackup(deps, { state, file: `${folder}/b.tar` }, never)
    assert.ok(!readFileSync(`${folder}/b.tar`, 'latin1').includes('very secret'))
    const list = (file: string) => spawnSync('tar', ['--list', '--file', file], { encoding: 'utf8' }).stdout.split('\n')
    assert.deepEqual(list(`${folder}/b.tar`).toSorted(), [
      '',
      'api/objects/objects.db',
      'backup.json',
      'kubelet.conf.d/a.conf',
      'manifests/web.yaml',
      'node.json',
    ])
    assert.deepEqual(list(`${folder}/b.tar.keys`).toSorted(), [
      '',
      'api/objects/secrets.key',
      'api/pki/ca.pem',
      'backup.json',
    ])
  })

  test('move a node to another folder with the keys, and not without', async () => {
    const state = await makeState('here', 'hush')
    await runBackup(deps, { state, file: `${folder}/b.tar` }, never)
    const other = `${folder}/other`
    rmSync(`${folder}/elsewhere`, { force: true })
    cpSync(`${folder}/b.tar`, `${folder}/copy.tar`)
    const restore = (keys: string | undefined) =>
      runRestore(deps, { state: other, file: `${folder}/copy.tar`, keys }, never)
    await assert.rejects(restore(undefined), /its keys are needed; name the file with --keys/)
    assert.deepEqual(readdirSync(other), [])
    await restore(`${folder}/b.tar.keys`)
    assert.equal(await readSecret(other), 'hush')
    assert.equal(readFileSync(`${other}/api/pki/ca.pem`, 'utf8'), 'key of here')
  })

  test('refuse a wrong file whole', async () => {
    const state = await makeState('here', 'hush')
    const stranger = await makeState('there', 'psst')
    await runBackup(deps, { state, file: `${folder}/b.tar` }, never)
    await runBackup(deps, { state: stranger, file: `${folder}/s.tar` }, never)
    const good = readFileSync(`${folder}/b.tar`)
    const edit = (name: string, at: number, bytes: Buffer) => {
      writeFileSync(`${folder}/${name}`, Buffer.concat([good.subarray(0, at), bytes, good.subarray(at + bytes.length)]))
      return `${folder}/${name}`
    }
    writeFileSync(`${folder}/text`, 'no tar')
    spawnSync('tar', ['--create', '--file', `${folder}/empty.tar`, '--files-from', '/dev/null'])
    spawnSync('cp', [`${folder}/b.tar`, `${folder}/more.tar`])
    spawnSync('tar', ['--append', '--file', `${folder}/more.tar`, '--directory', state, 'api/pki/ca.pem'])
    const where = good.indexOf('pod of here')
    const rows: [file: string, keys: string | undefined, why: RegExp][] = [
      [`${folder}/text`, undefined, /it cannot be unpacked/],
      [`${folder}/nothing`, undefined, /it cannot be unpacked: tar: .*nothing: Cannot open/],
      [`${folder}/empty.tar`, undefined, /it has no backup\.json; expected what "deckhand backup" wrote/],
      [`${folder}/b.tar.keys`, undefined, /it has the keys of a backup, and is none/],
      [`${folder}/b.tar`, `${folder}/b.tar`, /it is a backup and has no keys/],
      [`${folder}/b.tar`, `${folder}/s.tar.keys`, /the keys in ".*s\.tar\.keys" are those of another backup/],
      [
        edit('changed.tar', where, Buffer.from('bad')),
        `${folder}/b.tar.keys`,
        /"manifests\/web\.yaml" in it is not as it was saved/,
      ],
      [`${folder}/more.tar`, `${folder}/b.tar.keys`, /"api\/pki\/ca\.pem" does not belong into it/],
      [
        edit('newer.tar', good.indexOf('"format": 1'), Buffer.from('"format": 9')),
        undefined,
        /it has format 9, expected at most 1: a newer release made it/,
      ],
      [
        edit('outside.tar', good.indexOf('"manifests/web.yaml"'), Buffer.from('"../../../../etc/xy"')),
        undefined,
        /"\.\.\/\.\.\/\.\.\/\.\.\/etc\/xy" does not belong into it/,
      ],
    ]
    const before = readdirSync(state)
    for (const [file, keys, why] of rows) {
      await assert.rejects(runRestore(deps, { state, file, keys }, never), (error: Error) => {
        assert.match(error.message, why)
        assert.ok(error.message.startsWith('Cannot restore "'), error.message)
        return true
      })
      assert.deepEqual(readdirSync(state), before)
      assert.equal(await readSecret(state), 'hush')
    }
  })

  test('go on where a restore was cut off', async () => {
    const old = await makeState('node', 'first')
    const state = `${folder}/state`
    let isWhole = false
    for (let moves = 0; !isWhole; moves += 1) {
      rmSync(state, { recursive: true, force: true })
      cpSync(old, state, { recursive: true })
      writeFileSync(`${state}/manifests/late.yaml`, 'a pod')
      writeFileSync(`${state}/applied.json`, '[]')
      await writeSecret(state, 'second')
      const staging = `${state}/restore.new`
      for (const path of KEY_PATHS) cpSync(`${old}/${path}`, `${staging}/keys/${path}`, { recursive: true })
      for (const path of ['api/objects/objects.db', 'manifests', 'node.json'])
        cpSync(`${old}/${path}`, `${staging}/data/${path}`, { recursive: true })
      await beginRestore(state, staging)
      let left = moves
      const move = async (from: string, to: string) => {
        if (left === 0) throw new Error('cut off')
        left -= 1
        await renameDurably(from, to)
      }
      isWhole = await finishRestore(state, new FakeClock(), move).then(
        () => true,
        () => false,
      )
      await finishRestore(state, new FakeClock())
      assert.equal(await readSecret(state), 'first', `after ${moves} moves`)
      assert.deepEqual(readdirSync(`${state}/manifests`), ['web.yaml'], `after ${moves} moves`)
      assert.deepEqual(
        readdirSync(state).filter((name) => /restore\.|applied/.test(name)),
        [],
      )
    }
  })

  test('leave a node alone that runs, but save it through its API', async () => {
    const state = await makeState('here', 'hush')
    await runBackup(deps, { state, file: `${folder}/b.tar` }, never)
    await using _ = await takeUpLock(computeNodeLayout(state).upIdentity, process.pid)
    await assert.rejects(
      runRestore(deps, { state, file: `${folder}/b.tar`, keys: undefined }, never),
      /Cannot restore: the node runs; stop it first with "deckhand down"/,
    )
    const asked: string[] = []
    const send = async ({ method, path }: { readonly method: string; readonly path: string }) => {
      asked.push(`${method} ${path}`)
      await copyClosedDatabase(`${state}/api/objects/objects.db`, `${state}/api/objects/objects.db.backup`)
    }
    const openClient = async () => ({ send, watch: () => assert.fail() }) as never
    await runBackup({ ...deps, openClient }, { state, file: `${folder}/c.tar` }, never)
    assert.deepEqual(asked, ['POST /deckhand/backup'])
  })

  test('make no folder for a wrong name', async () => {
    const state = await makeState('here', 'hush')
    const save = (file: string) => runBackup(deps, { state, file }, never)
    await assert.rejects(save(`${folder}/nowhere/b.tar`), /Cannot back up the node to ".*": there is no such folder/)
    await assert.rejects(save(folder), /Cannot back up the node to ".*": it is a folder, expected a file/)
    assert.deepEqual(readdirSync(folder), ['here'])
  })

  test('say where there is no node', async () => {
    mkdirSync(`${folder}/none`)
    await assert.rejects(
      runBackup(deps, { state: `${folder}/none`, file: `${folder}/b.tar` }, never),
      /There is no node in/,
    )
  })
})
