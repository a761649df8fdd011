import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { silentLogger } from '../../base/telemetry/silent-logger.ts'
import { writeMounterResolver } from './write-mounter-resolver.ts'

describe('writeMounterResolver()', () => {
  test('the name servers of the cluster, the searches of the node', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'deckhand-mounter-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const settings = {
      config: { clusterDNS: ['10.0.0.10', 'fd00::a'], resolvConf: '/etc/resolv.conf' },
      flags: { experimentalMounterPath: join(folder, 'mounter') },
    }
    const written = async (resolvConf: string) => {
      await writeMounterResolver({ settings, files: { readResolvConf: async () => resolvConf }, log: silentLogger })
      return readFileSync(join(folder, 'rootfs/etc/resolv.conf'), 'utf8')
    }
    const servers = 'nameserver 10.0.0.10\nnameserver fd00::a\n'
    assert.equal(await written('nameserver 192.0.2.53\nsearch a.test b.test\n'), `${servers}search a.test b.test\n`)
    assert.equal(await written('nameserver\nsearch a.test b.test\n'), servers, 'a resolver file that cannot be read')
  })

  test('where nothing can be written the agent goes on', async () => {
    const config = { clusterDNS: [], resolvConf: '' }
    const settings = { config, flags: { experimentalMounterPath: '/proc/nowhere/mounter' } }
    const readResolvConf = async () => assert.fail('there is no resolver file')
    await writeMounterResolver({ settings, files: { readResolvConf }, log: silentLogger })
  })
})
