import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { createRecordFolder } from '../../system/files/state/create-record-folder.ts'
import { CniRecords } from './cni-records.ts'

const record = {
  attachment: {
    containerId: 'abc',
    namespace: '/proc/7/ns/net',
    device: 'eth0',
    args: [['K8S_POD_NAME', 'web']] as const,
    capabilities: { portMappings: [] },
  },
  networkName: 'pods',
  configuration: '{"name":"pods"}',
  result: { ips: [] },
  owner: 'unix:///docker.sock',
}

describe('CniRecords', () => {
  test('are found by the next agent, in the format of other runtimes', async (t) => {
    const path = await mkdtemp(join(tmpdir(), 'cni-records-'))
    t.after(() => rm(path, { recursive: true }))
    const open = () => new CniRecords(createRecordFolder(path), silentLogger)
    await open().write(record)
    const text = await readFile(join(path, 'pods-abc-eth0'), 'utf8')
    const { kind, config, dockerSocket } = JSON.parse(text) as Record<string, string>
    assert.deepEqual(
      [kind, Buffer.from(config ?? '', 'base64').toString(), dockerSocket],
      ['cniCacheV1', '{"name":"pods"}', 'unix:///docker.sock'],
    )
    const next = open()
    assert.deepEqual(await next.find('abc', 'eth0'), record)
    assert.equal(await next.find('abc', 'lo'), undefined)
    await next.remove(record)
    assert.equal(await next.find('abc', 'eth0'), undefined)
    assert.equal(await open().find('abc', 'eth0'), undefined)
  })

  test('of other programs are read, but are not ours; what is broken is no record', async (t) => {
    const path = await mkdtemp(join(tmpdir(), 'cni-records-'))
    t.after(() => rm(path, { recursive: true }))
    const other = {
      kind: 'cniCacheV1',
      containerId: 'def',
      config: 'e30=',
      ifName: 'eth0',
      networkName: 'n',
      result: {},
    }
    await writeFile(join(path, 'n-def-eth0'), JSON.stringify(other))
    await writeFile(join(path, 'n-ghi-eth0'), '{"kind":"cniCacheV1"')
    await writeFile(join(path, 'n-jkl-eth0'), JSON.stringify({ ...other, containerId: 'jkl', result: undefined }))
    const records = new CniRecords(createRecordFolder(path), silentLogger)
    await records.write(record)
    assert.equal((await records.find('def', 'eth0'))?.configuration, '{}')
    assert.equal(await records.find('jkl', 'eth0'), undefined)
    assert.deepEqual(await records.listOwn('unix:///docker.sock'), [record])
  })
})
