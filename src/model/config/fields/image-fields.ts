import { textList } from '../kinds/collection-kinds.ts'
import { bool, choice, duration, int32 } from '../kinds/scalar-kinds.ts'

function findAllowlistEntryProblem(pattern: string): string | undefined {
  if (pattern.trim() !== pattern || pattern === '') return 'expected an image name without spaces around it'
  const name = pattern.replace(/\/\*$/, '')
  if (name.includes('*')) return 'expected * only at the end, after a slash'
  const withoutPort = pattern.replace(/^[^/]*:\d+(?=\/)/, '')
  if (/[@:]/.test(withoutPort)) return 'expected an image name without tag and digest'
  const host = name.split('/')[0] ?? ''
  const hasHost = host === 'localhost' || /[.:]/.test(host)
  return name !== pattern && !hasHost ? 'expected a registry host before the *' : undefined
}

/** Pulling images, and removing those no longer used. */
export const imageFields = {
  serializeImagePulls: bool({
    default: false,
    keepsZero: true,
    flag: 'serialize-image-pulls',
    about: 'pull one image at a time',
  }),
  maxParallelImagePulls: int32({
    default: undefined,
    keepsZero: true,
    min: 1,
    about: 'images pulled at the same time',
  }),
  registryPullQPS: int32({
    default: 5,
    keepsZero: true,
    min: 0,
    flag: 'registry-qps',
    about: 'pulls a second; 0 is no limit',
  }),
  registryBurst: int32({ default: 10, min: 0, flag: 'registry-burst', about: 'pulls at once' }),
  imagePullCredentialsVerificationPolicy: choice(
    ['NeverVerify', 'NeverVerifyPreloadedImages', 'NeverVerifyAllowlistedImages', 'AlwaysVerify'],
    { default: undefined, about: 'which images that are already here need credentials' },
  ),
  preloadedImagesVerificationAllowlist: textList({
    default: [],
    about: 'images that need none; a name or host/prefix/*',
    item: findAllowlistEntryProblem,
  }),
  imageMinimumGCAge: duration({
    default: '2m',
    min: '0s',
    flag: 'minimum-image-ttl-duration',
    about: 'time that an unused image stays at least',
  }),
  imageMaximumGCAge: duration({
    default: '0s',
    min: '0s',
    about: 'time that an unused image stays at most; 0s is for ever',
  }),
  imageGCHighThresholdPercent: int32({
    default: 85,
    keepsZero: true,
    min: 0,
    max: 100,
    flag: 'image-gc-high-threshold',
    about: 'disk use in percent from which on images are removed',
  }),
  imageGCLowThresholdPercent: int32({
    default: 80,
    keepsZero: true,
    min: 0,
    max: 100,
    flag: 'image-gc-low-threshold',
    about: 'disk use in percent down to which images are removed',
  }),
}
