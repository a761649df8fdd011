import type { Clock } from '../../../base/async/clock.ts'
import type { KubeletFlags } from '../../../model/config/flags/kubelet-flags.ts'
import { EtcdConnection } from '../../../protocols/etcd/etcd-connection.ts'
import { readBytes } from '../../../system/files/files-and-folders.ts'

type EtcdFlags = Pick<KubeletFlags, 'etcdCafile' | 'etcdCertfile' | 'etcdKeyfile' | 'etcdUsername' | 'etcdPasswordFile'>

/** Connects to members of etcd as the flags say; their files are read for each connection, so that renewed ones count. */
export function createEtcdConnector(
  flags: EtcdFlags,
  clock: Clock,
  options: { readonly pingMs?: number } = {},
): (server: string) => Promise<EtcdConnection> {
  const { etcdCafile, etcdCertfile, etcdKeyfile, etcdUsername, etcdPasswordFile } = flags
  return async (server) => {
    const ca = etcdCafile === '' ? undefined : await readBytes(etcdCafile)
    const certificate =
      etcdCertfile === '' ? undefined : { cert: await readBytes(etcdCertfile), key: await readBytes(etcdKeyfile) }
    const password = etcdPasswordFile === '' ? '' : (await readBytes(etcdPasswordFile)).toString().trimEnd()
    const user = etcdUsername === '' ? undefined : { name: etcdUsername, password }
    return new EtcdConnection({ server, tls: { ca, certificate }, user, clock, ...options })
  }
}
