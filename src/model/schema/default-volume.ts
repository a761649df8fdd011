import type { DownwardAPIVolumeFile, Volume, VolumeProjection } from '../generated/core-v1.ts'
import { defaultFieldRef, defaultPullPolicy } from './default-container.ts'

const FILE_MODE = 0o644
const TOKEN_SECONDS = 3600

/** Fills what the API fills in a volume; one without any source is an emptyDir. Constant defaults are in the schema table. */
export function defaultVolume(volume: Volume): Volume {
  const { name, ...sources } = volume
  if (Object.keys(sources).length === 0) return { name, emptyDir: {} }
  const { hostPath, secret, configMap, downwardAPI, projected, image, ephemeral } = volume
  return {
    ...volume,
    ...(hostPath && { hostPath: { ...hostPath, type: hostPath.type ?? '' } }),
    ...(secret && { secret: { ...secret, defaultMode: secret.defaultMode ?? FILE_MODE } }),
    ...(configMap && { configMap: { ...configMap, defaultMode: configMap.defaultMode ?? FILE_MODE } }),
    ...(downwardAPI && { downwardAPI: { ...withMode(downwardAPI), ...defaultItems(downwardAPI) } }),
    ...(projected && {
      projected: {
        ...withMode(projected),
        ...(projected.sources && { sources: projected.sources.map(defaultProjection) }),
      },
    }),
    ...(image && { image: { ...image, pullPolicy: image.pullPolicy || defaultPullPolicy(image.reference ?? '') } }),
    ...(ephemeral?.volumeClaimTemplate && {
      ephemeral: {
        ...ephemeral,
        volumeClaimTemplate: {
          ...ephemeral.volumeClaimTemplate,
          spec: {
            ...ephemeral.volumeClaimTemplate.spec,
            volumeMode: ephemeral.volumeClaimTemplate.spec.volumeMode ?? 'Filesystem',
          },
        },
      },
    }),
  }
}

function withMode<T extends { readonly defaultMode?: number | undefined }>(source: T): T & { defaultMode: number } {
  return { ...source, defaultMode: source.defaultMode ?? FILE_MODE }
}

interface WithItems {
  readonly items?: readonly DownwardAPIVolumeFile[] | undefined
}

function defaultItems(source: WithItems): WithItems {
  if (source.items === undefined) return {}
  const items = source.items.map((item) =>
    item.fieldRef === undefined ? item : { ...item, fieldRef: defaultFieldRef(item.fieldRef) },
  )
  return { items }
}

function defaultProjection(source: VolumeProjection): VolumeProjection {
  const { downwardAPI, serviceAccountToken: token } = source
  return {
    ...source,
    ...(downwardAPI && { downwardAPI: { ...downwardAPI, ...defaultItems(downwardAPI) } }),
    ...(token && { serviceAccountToken: { ...token, expirationSeconds: token.expirationSeconds ?? TOKEN_SECONDS } }),
  }
}
