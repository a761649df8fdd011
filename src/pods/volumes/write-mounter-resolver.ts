import type { Settings } from '../../model/config/load-configuration.ts'
import { parseResolvConf } from '../containers/network/parse-resolv-conf.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { writeFileDurably } from '../../system/files/durable-file.ts'

const MODE = 0o600

/** The program of --experimental-mounter-path runs in a root of its own beside it, and finds servers by the names of the cluster. */
export async function writeMounterResolver(deps: {
  readonly settings: { readonly config: Pick<Settings['config'], 'clusterDNS'>; readonly flags: MounterFlags }
  readonly resolvConf: string | undefined
  readonly log: Logger
}): Promise<void> {
  const { settings, resolvConf, log } = deps
  const folder = settings.flags.experimentalMounterPath.replace(/\/mounter$/, '')
  const path = `${folder}/rootfs/etc/resolv.conf`
  const servers = settings.config.clusterDNS.map((address) => `nameserver ${address}\n`)
  const search = resolvConf === undefined ? '' : `${['search', ...parseResolvConf(resolvConf).searches].join(' ')}\n`
  try {
    await writeFileDurably(path, `${servers.join('')}${search}`, { mode: MODE })
  } catch (error) {
    log.error('cannot write the name servers of the mounter', { path, error })
  }
}

type MounterFlags = Pick<Settings['flags'], 'experimentalMounterPath'>
