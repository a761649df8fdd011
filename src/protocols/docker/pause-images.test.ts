import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PAUSE_IMAGE } from '../../standalone/images/node-images.ts'
import { PAUSE_IMAGES } from './pause-images.ts'

test('the image that "deckhand up" gives Docker is the one that sandboxes are made of', () => {
  assert.equal(PAUSE_IMAGES[0], PAUSE_IMAGE)
})
