import { readCodename, readPackageSource } from '../../runtimes/package-source.ts'
import { runCommand } from '../../vm/run-command.ts'

/** What a node is made of, besides our own package. */
const imagePackages: readonly string[] = [
  'busybox-static',
  'ca-certificates',
  'catatonit',
  'conntrack',
  'containerd',
  'containernetworking-plugins',
  'iproute2',
  'iptables',
  'libatomic1',
  'libstdc++6',
  'mount',
  'nftables',
  'runc',
]
// What is not needed in a container; licences stay.
const leftOut = ['/usr/share/man/*', '/usr/share/doc/*', '/usr/share/locale/*', '/usr/share/info/*']
// mmdebstrap mounts /proc and /sys in the tree that it makes: only for itself, and gone with it.
const ALONE = ['unshare', '--mount', '--pid', '--fork', '--kill-child']
const DEADLINE_MS = 1_200_000

interface BaseRequest {
  readonly file: string
  /** As Debian names it. */
  readonly architecture: string
  readonly epoch: number
}

/** Writes the first layer: Debian of the release that this machine runs, from its own sources. The same packages make the same bytes. */
export async function makeBaseLayer({ file, architecture, epoch }: BaseRequest): Promise<void> {
  const codename = readCodename()
  const lines = [codename, `${codename}-updates`, `${codename}-security`].flatMap((suite) => {
    const source = readPackageSource(suite)
    if (source === undefined) return []
    const options = source.signedBy === undefined ? '' : `[signed-by=${source.signedBy}] `
    return [`deb ${options}${source.uri} ${suite} main`]
  })
  if (codename === '' || lines.length === 0)
    throw new Error('Cannot make an image: /etc/apt names no source of the Debian release that this machine runs')
  await runCommand(
    [
      'env',
      `SOURCE_DATE_EPOCH=${epoch}`,
      ...ALONE,
      'mmdebstrap',
      '--quiet',
      '--variant=essential',
      '--mode=root',
      '--format=tar',
      `--architectures=${architecture}`,
      '--aptopt=Acquire::Languages "none"',
      ...leftOut.map((pattern) => `--dpkgopt=path-exclude=${pattern}`),
      '--dpkgopt=path-include=/usr/share/doc/*/copyright',
      `--include=${imagePackages.join(',')}`,
      codename,
      file,
      ...lines,
    ],
    { deadlineMs: DEADLINE_MS },
  )
}
