import type { Settings } from '../../model/config/load-configuration.ts'
import { parseResolvConf } from '../containers/network/parse-resolv-conf.ts'
import type { Logger } from '../../base/telemetry/logger.ts'
import { writeFileDurably } from '../../system/files/state/durable-file.ts'

const MODE = 0o600

interface MounterResolverDeps {
  readonly settings: {
    readonly config: Pick<Settings['config'], 'clusterDNS' | 'resolvConf'>
    readonly flags: Pick<Settings['flags'], 'experimentalMounterPath'>
  }
  readonly files: { readResolvConf(path: string): Promise<string> }
  readonly log: Logger
}

/** The program of --experimental-mounter-path runs in a root of its own beside it, and finds servers by the names of the cluster. */
export async function writeMounterResolver(deps: MounterResolverDeps): Promise<void> {
  const { settings, log } = deps
  const folder = settings.flags.experimentalMounterPath.replace(/\/mounter$/, '')
  const path = `${folder}/rootfs/etc/resolv.conf`
  const servers = settings.config.clusterDNS.map((address) => `nameserver ${address}\n`)
  try {
    await writeFileDurably(path, `${servers.join('')}${await readSearch(deps)}`, { mode: MODE })
  } catch (error) {
    log.error('cannot write the name servers of the mounter', { path, error })
  }
}

async function readSearch({ settings, files, log }: MounterResolverDeps): Promise<string> {
  const { resolvConf } = settings.config
  if (resolvConf === '') return ''
  try {
    return `${['search', ...parseResolvConf(await files.readResolvConf(resolvConf)).searches].join(' ')}\n`
  } catch (error) {
    log.error('cannot read the resolver file, the mounter gets no search domains', { resolvConf, error })
    return ''
  }
}
