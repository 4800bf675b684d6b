#!/usr/bin/env node
import '../../packages/load/bin/dnscannon.js';
