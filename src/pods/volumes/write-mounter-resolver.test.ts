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
      config: { clusterDNS: ['10.0.0.10', 'fd00::a'] },
      flags: { experimentalMounterPath: join(folder, 'mounter') },
    }
    const resolvConf = 'nameserver 192.0.2.53\nsearch a.test b.test\n'
    await writeMounterResolver({ settings, resolvConf, log: silentLogger })
    assert.equal(
      readFileSync(join(folder, 'rootfs/etc/resolv.conf'), 'utf8'),
      'nameserver 10.0.0.10\nnameserver fd00::a\nsearch a.test b.test\n',
    )
  })

  test('where nothing can be written the agent goes on', async () => {
    const settings = { config: { clusterDNS: [] }, flags: { experimentalMounterPath: '/proc/nowhere/mounter' } }
    await writeMounterResolver({ settings, resolvConf: undefined, log: silentLogger })
  })
})
