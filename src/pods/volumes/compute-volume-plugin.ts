import type { PersistentVolumeSpec, Volume } from '../../model/generated/core-v1.ts'
import type { VolumeSource } from './desired-volume.ts'

const INLINE_PLUGINS = {
  emptyDir: 'kubernetes.io/empty-dir',
  hostPath: 'kubernetes.io/host-path',
  configMap: 'kubernetes.io/configmap',
  secret: 'kubernetes.io/secret',
  downwardAPI: 'kubernetes.io/downward-api',
  projected: 'kubernetes.io/projected',
  nfs: 'kubernetes.io/nfs',
  iscsi: 'kubernetes.io/iscsi',
  fc: 'kubernetes.io/fc',
  csi: 'kubernetes.io/csi',
} as const satisfies Partial<Record<keyof Volume, string>>

const PERSISTENT_PLUGINS = {
  hostPath: 'kubernetes.io/host-path',
  local: 'kubernetes.io/local-volume',
  nfs: 'kubernetes.io/nfs',
  iscsi: 'kubernetes.io/iscsi',
  fc: 'kubernetes.io/fc',
  csi: 'kubernetes.io/csi',
} as const satisfies Partial<Record<keyof PersistentVolumeSpec, string>>

/** All plugins that mount something, each once. */
export const VOLUME_PLUGINS: ReadonlySet<string> = new Set([
  ...Object.values(INLINE_PLUGINS),
  ...Object.values(PERSISTENT_PLUGINS),
])

/** The plugin that mounts what a volume names; undefined for a source that none of them mounts. */
export function computeVolumePlugin(source: VolumeSource): string | undefined {
  return source.kind === 'inline'
    ? findPlugin(INLINE_PLUGINS, source.volume)
    : findPlugin(PERSISTENT_PLUGINS, source.volume.spec ?? {})
}

function findPlugin(plugins: Readonly<Record<string, string>>, spec: object): string | undefined {
  const present = new Map(Object.entries(spec))
  return Object.entries(plugins).find(([field]) => present.get(field) !== undefined)?.[1]
}
