#!/usr/bin/env node
import '../../packages/zones/bin/dinodns-zones.js';
